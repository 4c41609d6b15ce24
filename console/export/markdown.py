"""Threads as Markdown: the texts in fences that nothing in them can close."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from console.export.about import NOT_COVERED, About, claim_of
from console.render.json_output import json_text
from console.render.safe import visible, visible_line
from mailstore.transfer.export import Exported

SPECIAL = re.compile(r"([\\`*_{}\[\]()#+.!|<>~&-])")
LEAST_FENCE = 3


def as_markdown(messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render messages as they come, a heading where another thread begins."""
    yield f"# Mail of {inline(about.mailbox)}\n\n"
    yield f"Exported {inline(about.exported_at)}: {inline(about.selection)}. {NOT_COVERED}\n"
    root = None
    for message in messages:
        yield markdown_block(message, root)
        root = message.root


def inline(text: str) -> str:
    """Return text that Markdown shows as it is, in one line."""
    return SPECIAL.sub(r"\\\1", visible_line(text))


def markdown_block(message: Exported, root: str | None) -> str:
    """Return a message, below a heading unless it is in the thread with this root."""
    heading = "" if message.root == root else f"\n## {inline(message.subject) or '(no subject)'}\n"
    shown = visible(message.content).rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(LEAST_FENCE, longest + 1)
    claim = json_text(claim_of(message)).replace("<", "\\u003c").replace(">", "\\u003e")
    claim = claim.replace("--", "-\\u002d")
    to = inline(", ".join(message.recipients))
    states = inline("; ".join(f"{name}: {state}" for name, state in message.states.items()))
    notes = [inline(message.timestamp), *([inline(message.type)] if message.type else []), states]
    if message.thread:
        notes.append(f"answers {inline(message.thread)}")
    if message.missing:
        notes.append(inline(f"its text can't be read: {message.missing}"))
    head = f"\n**{inline(message.sender)}** → {to}  \n{' · '.join(filter(None, notes))}\n"
    return f"{heading}{head}\n<!-- signalbox {claim} -->\n{fence}text\n{shown}\n{fence}\n"
