"""The lines of a message around its text: sender, recipients and time above, the state for each recipient below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from console.panes.list_rows import Piece, layout_line
from console.panes.receipts import receipt_lines, wrapped
from console.panes.stream_place import StreamPlace
from console.render.safe import visible_line
from console.render.short_text import bare, clock, local_day, shorten_end, shorten_middle
from console.words.styles import TextStyles
from console.words.symbols import NEW, REPLY, SIGNS, TYPE_GLYPHS
from mailstore.records.message import Message
from mailstore.records.scope import label_of
from mailstore.rules.delivery import Standing
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import ThreadNode

if TYPE_CHECKING:
    from console.render.elements import MarkdownStyles
    from mailstore.records.details import MessageWay

ATTACHED = ("attachment:", "attachment-missing:")
"""How tags begin that name the files of a message."""
NEW_SINCE = "new since you looked"


class MessageBlock(Struct, frozen=True):
    """Everything that a message's lines show, except its text; equal blocks have equal lines."""

    node: ThreadNode
    to: str = ""
    answered: str = ""
    standings: tuple[tuple[str, Standing], ...] = ()
    is_unseen: bool = False
    is_intervention: bool = False
    folded: int = 0
    sender: str = ""
    most_lines: int = 0
    """A longer text is cut; 0 shows it whole."""
    is_unfolded: bool = False
    """Whether the receipts of several recipients are listed by name."""
    is_starred: bool = False
    files: tuple[str, ...] | None = None
    """The places of all copies of a message with attached files; None for one without."""
    is_waiting: bool = False
    """Whether it waits in an outbox to be sent."""
    way: MessageWay | None = None
    """The last try to send it, if it could not be sent yet."""
    looked: int = 0
    """Changes now and then where files or the text are missing, which may still come."""
    day: int = 0
    """The day on which it is shown, of which its times are said."""
    stream: StreamPlace | None = None
    """Its surroundings in a stream; None in a conversation."""
    cancelled_by: str = ""
    """The sender of the message that cancelled this task; empty unless one did."""

    @property
    def key(self) -> str:
        return self.node.id

    def has_text_of(self, other: MessageBlock) -> bool:
        """Return whether another block's text is the same, and need not be read again."""
        return self.node.message == other.node.message and self.looked == other.looked


def block_of(mailbox: Mailbox, node: ThreadNode, now: float, *, is_intervention: bool, folded: int) -> MessageBlock:
    """Return the block of a message."""
    message = node.message
    if message is None:
        return MessageBlock(node, folded=folded)
    # a conversation is in one mailbox, which its title names
    head = f"{label_of(message.id)}/" if mailbox.mailboxes() else ""
    standings = tuple(
        (name.removeprefix(head), _without(head, standing)) for name, standing in mailbox.states(message, now).items()
    )
    to = ", ".join(mailbox.label(name).replace(head, "", 1) for name in message.recipients)
    above = mailbox.message(node.parent) if node.parent is not None else None
    answered = bare(visible_line(above.subject).strip()) if above is not None else ""
    sender = message.sender.removeprefix(head)
    is_starred = message.id in mailbox.own_marks().starred
    cancel = mailbox.cancelled_by(message)
    return MessageBlock(
        *(node, to, answered, standings, mailbox.is_unseen(message), is_intervention, folded, sender),
        is_starred=is_starred,
        cancelled_by="" if cancel is None else cancel.sender.removeprefix(head),
        day=local_day(now),
    )


def _without(head: str, standing: Standing) -> Standing:
    """Return a state without the label of a mailbox in the names of those who read the message."""
    if not head or not standing.by:
        return standing
    return replace(standing, by=tuple(reader.removeprefix(head) for reader in standing.by))


def markdown_styles(styles: TextStyles) -> MarkdownStyles:
    """Return the Markdown styles of a message's text."""
    from console.render.elements import MarkdownStyles

    return MarkdownStyles(
        text=styles.text,
        muted=styles.muted,
        accent=styles.accent,
        code=styles.text,
        quote=styles.muted,
        heading=styles.strong,
        link=styles.accent,
        code_theme=styles.code_theme,
    )


def block_head(block: MessageBlock, body: str, width: int, styles: TextStyles, now: float) -> list[Strip]:
    """Return the lines above a message's text: sender, recipients, time, subject, tags."""
    message = block.node.message
    if message is None:
        missing = f"missing message ({shorten_middle(visible_line(block.node.id), 24)})"
        return [layout_line([("┄ ", styles.muted), (missing, styles.muted)], [], width, Style.null())]
    lines = [_header(block, message, width, styles, now)]
    if (subject := _subject(block, message, body)) is not None:
        lines.append(layout_line([(subject, styles.strong)], [], width, Style.null()))
    lines += _tags(block, message, width, styles)
    if block.stream is None:
        return lines
    return stream_head(block.stream, message, lines, width, styles, now, is_unseen=block.is_unseen)


def block_foot(block: MessageBlock, width: int, styles: TextStyles, now: float) -> list[Strip]:
    """Return the lines below a message's text: its state for each recipient, and how many replies are folded."""
    message = block.node.message
    lines = receipt_lines(block.standings, width, styles, now, is_unfolded=block.is_unfolded)
    if block.cancelled_by:
        words = f"{TYPE_GLYPHS['cancel']} cancelled by {visible_line(block.cancelled_by)}"
        lines.insert(0, layout_line([(words, styles.warn)], [], width, Style.null()))
    if block.is_waiting:
        from console.panes.message_lines import waiting_line

        lines.insert(0, waiting_line(block.way, width, styles, now))
    if message is not None and message.is_listed and not block.standings:
        lines.append(layout_line([("· recipients not recorded", styles.muted)], [], width, Style.null()))
    if block.folded and message is not None:
        plural = "reply" if block.folded == 1 else "replies"
        lines.append(layout_line([(f"▸ {block.folded} {plural} folded", styles.accent)], [], width, Style.null()))
    return [*lines, Strip.blank(width)]


def _header(block: MessageBlock, message: Message, width: int, styles: TextStyles, now: float) -> Strip:
    when = clock(message.time, now) if message.timed else visible_line(message.timestamp)[:20] or "no time"
    glyph = TYPE_GLYPHS.get(message.type, "")
    left: list[Piece] = [(f"{NEW} ", styles.unread)] if block.is_unseen else []
    if block.is_starred:
        left.append((f"{SIGNS['starred'].glyph} ", styles.accent))
    if block.is_intervention:
        left.append(("⚑ ", styles.intervention))
    sender = visible_line(block.sender)
    left.append((sender, styles.mine if message.sender == "user" else styles.strong))
    if block.stream is None or not block.stream.is_to_place:
        left += [(" → ", styles.muted), (visible_line(block.to), styles.text)]
    if kind := visible_line(message.type):
        known = f"{glyph} {kind}" if glyph and width >= 56 else glyph or kind
        left.append((f"  {known}", styles.accent))
    if message.archived:
        left.append(("  archived", styles.muted))
    return layout_line(left, [(when, styles.muted)], width, Style.null())


def _tags(block: MessageBlock, message: Message, width: int, styles: TextStyles) -> list[Strip]:
    """Return a message's tags; one that begins with ! is a warning, on a line of its own.

    Files that are listed below the text are not among them.
    """
    loud = [tag[1:] for tag in message.tags if tag.startswith("!") and tag[1:]]
    if block.files is not None:
        loud = [tag for tag in loud if not tag.startswith(ATTACHED)]
    left_out = ("!", *ATTACHED) if block.files is not None else "!"
    plain = [tag for tag in message.tags if not tag.startswith(left_out)]
    lines = [
        layout_line([("⚠ ", styles.bad), (visible_line(tag), styles.bad)], [], width, Style.null()) for tag in loud
    ]
    for line in wrapped([visible_line(tag) for tag in plain], width - 2, " ·") if plain else ():
        lines.append(layout_line([("◇ ", styles.muted), (line, styles.muted)], [], width, Style.null()))
    return lines


def _subject(block: MessageBlock, message: Message, body: str) -> str | None:
    """Return the subject, unless the text begins with it or the message replied to has the same."""
    subject = visible_line(message.subject).strip()
    if not subject or bare(subject) == block.answered or body.lstrip().startswith(message.subject[:60].rstrip()):
        return None
    return subject


def more_line(hidden: int | None, key: str, width: int, styles: TextStyles) -> Strip:
    """Return the line below a cut text: how many lines are hidden, if that is known."""
    words = "more" if hidden is None else "1 more line" if hidden == 1 else f"{hidden:,} more lines"
    pieces: list[Piece] = [(f"⋯ {words}", styles.accent), (f" · {key}: open", styles.muted)]
    return layout_line(pieces, [], width, Style.null())


def stream_head(
    place: StreamPlace,
    message: Message,
    head: list[Strip],
    width: int,
    styles: TextStyles,
    now: float,
    *,
    is_unseen: bool,
) -> list[Strip]:
    """Return the lines above a message's text, given those of a conversation, the first of which names the sender."""
    lines: list[Strip] = []
    if place.day:
        lines += [_rule(place.day, width, styles.muted), Strip.blank(width)]
    if place.is_new:
        lines += [_rule(NEW_SINCE, width, styles.accent), Strip.blank(width)]
    if place.answers is not None:
        sender, subject = place.answers
        told = f"{sender}: {subject}" if sender else subject
        lines.append(layout_line([(f"{REPLY} {told}", styles.muted)], [], width, Style.null()))
    if not place.is_grouped:
        return lines + head
    if is_unseen or not place.is_same_minute:
        left: list[Piece] = [(f"{NEW} ", styles.unread)] if is_unseen else []
        lines.append(layout_line(left, [(clock(message.time, now), styles.muted)], width, Style.null()))
    return lines + head[1:]


def _rule(words: str, width: int, style: Style) -> Strip:
    """Return a line across the stream with words in it."""
    shown = shorten_end(words, max(1, width - 6))
    return layout_line([(f"── {shown} " + "─" * max(0, width - cell_len(shown) - 4), style)], [], width, Style.null())
