"""The line at the bottom: the keys of the focused pane, the beginning of a count, or a notice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from msgspec import Struct
from rich.cells import cell_len
from rich.style import Style
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer

from console.commands.command import Command, Situation
from console.commands.table import BY_ID, action_of, commands_for
from console.panes.click_line import ClickLine, Spot
from console.words.styles import TextStyles
from console.words.symbols import HELD
from mailstore.store import Capability

HELP, UNDO = action_of("help"), action_of("undo")
SHORTEST_SECONDS = 2.5
SECONDS_A_MESSAGE = 0.05
"""How long a notice takes to be read; then the keys are shown again."""


class FooterKey(Struct, frozen=True):
    """A key that the footer names: what a click on it runs, if anything, and whether it can act now."""

    key: str
    label: str
    action: str = ""
    is_able: bool = True


@lru_cache(maxsize=32)
def _named_in_footer(pane: str) -> tuple[Command, ...]:
    return tuple(
        sorted((command for command in commands_for(pane) if command.footer), key=lambda command: command.footer)
    )


def footer_keys(
    pane: str, keymap: Mapping[str, str], ask: Callable[[Capability], str], situation: Situation
) -> tuple[FooterKey, ...]:
    """Return the keys that the footer names for a pane, the most useful first, and whether each can act now."""
    return tuple(
        FooterKey(command.key_label(keymap), command.label, command.screen_action, not command.why_not(ask, situation))
        for command in _named_in_footer(pane)
        if command.suits(situation)
    )


def count_keys(keymap: Mapping[str, str]) -> tuple[FooterKey, ...]:
    """Return the keys that the footer names once a count was begun."""
    labels = {"list.down": "rows down", "list.up": "up", "list.last": "to that row"}
    named = ((BY_ID[name], label) for name, label in labels.items())
    keys = (FooterKey(command.key_label(keymap), label, command.screen_action) for command, label in named)
    return (*keys, FooterKey("esc", "no count", "drop_count"))


def notice_seconds(words: str) -> float:
    """Return how many seconds a notice is shown."""
    return max(SHORTEST_SECONDS, SECONDS_A_MESSAGE * len(words))


class Footer(ClickLine):
    """Keys with labels, as many as fit, and the help key; unavailable ones are struck through, all can be clicked."""

    most_seconds = float("inf")
    """How long the notice is shown at most."""

    keys: reactive[tuple[FooterKey, ...]] = reactive(())
    notice: reactive[str] = reactive("")
    busy: reactive[str] = reactive("")
    """Which command takes long, and since when."""
    held: reactive[str] = reactive("")
    """When a held message is sent."""
    count: reactive[str] = reactive("")
    """The digits typed so far of how often a key is to be repeated."""

    def __init__(
        self,
        styles: TextStyles,
        help_key: str,
        count_keys: tuple[FooterKey, ...] = (),
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(id=id)
        self.text_styles = styles
        self._help_key = help_key
        self._count_keys = count_keys
        self._ending: Timer | None = None

    def watch_notice(self, notice: str) -> None:
        """Show the keys again after the notice has been read."""
        if self._ending is not None:
            self._ending.stop()
        self._ending = None
        if notice:
            self._ending = self.set_timer(min(notice_seconds(notice), self.most_seconds), self._end_notice)

    def _end_notice(self) -> None:
        self.notice = ""

    def render_line(self, y: int) -> Strip:
        """Render the line."""
        width, styles = self.size.width, self.text_styles
        if y > 0 or not width:
            return Strip.blank(width)
        right = [Spot(f"{self._help_key} ", styles.accent, HELP), Spot("help", styles.muted, HELP)]
        right.append(Spot(" ", styles.muted))
        if self.notice:
            return self.lay_out([Spot(f" {self.notice}", styles.text)], right, width)
        left = [
            Spot(
                f" {self.count.lstrip('0') or 0}× " if self.count else " ", styles.accent + Style(bold=bool(self.count))
            )
        ]
        if self.busy:
            left.append(Spot(f"{self.busy}  ", styles.warn))
        if self.held:
            left.append(Spot(f"{HELD} {self.held}  ", styles.warn, UNDO))
        room = width - 7 - len(self._help_key) - sum(cell_len(spot.text) for spot in left)
        for named in self._count_keys if self.count else self.keys:
            key, label, is_able = named.key, named.label, named.is_able
            room -= len(key) + len(label) + 3
            if room < 0:
                break
            faint = styles.muted + Style(dim=True, strike=True)
            left.append(Spot(key, styles.accent if is_able else faint, named.action))
            left.append(Spot(f" {label}", styles.muted if is_able else faint, named.action))
            left.append(Spot("  ", styles.muted))
        return self.lay_out(left, right, width)
