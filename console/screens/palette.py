"""The command palette: commands of this screen, of others and of the shell, views, channels, agents and themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from re import finditer
from typing import cast

from msgspec import Struct
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from console.commands.command import ANYWHERE, LISTS, Command
from console.commands.shell import COMMANDS as SHELL
from console.commands.table import BY_ID, COMMANDS, OPENERS
from console.panes.sidebar import sidebar_rows
from console.render.safe import visible_line
from console.screens.list_screen import ListScreen
from console.screens.main_screen import MainScreen
from console.session import Session
from console.settings.theme_switcher import ThemedApp
from mailstore.state.views import View

MOST = 2000
"""Views, channels and agents among which is looked at most."""
MOST_SHOWN = 100
"""The candidates that are listed at most: the best."""
KEY_CELLS = 8
PLACES = {"channel": "Channel", "agent": "Agent", "saved": "Saved view", "store": "Mailbox"}
FOOTER, HERE, MOVE, COMMAND, PLACE, OTHER, UNABLE, AWAY = 6, 5, 4, 3, 2, 1, 0, -1
"""How well candidates fit: what the footer names first, then the focused pane's other commands; then what can't act,
last what another screen or the shell does."""
WHOLE, BEGINNING, PHRASE, WORDS, SKIPPING, WITHIN, SCATTERED = 7, 6, 5, 4, 3, 2, 1
"""How well a query fits a name: from all of it down to messages scattered over it."""


class PaletteEntry(Struct, frozen=True):
    """Something that can be chosen; `fit` is the higher the better it suits the focused pane."""

    name: str
    help: str
    run: Callable[[], None]
    key: str = ""
    fit: int = 0
    is_able: bool = True
    order: int = 0
    synonyms: str = ""

    def title(self, places: tuple[int, ...] = ()) -> Content:
        """Return the key and the name, of which some messages are underlined."""
        name = Content(self.name) if self.is_able else Content.styled(self.name, "$muted")
        for at in places:
            name = name.stylize("underline $accent", at, at + 1)
        return Content.assemble((f"{self.key:>{KEY_CELLS}}  ", "$accent" if self.is_able else "$muted"), name)

    @property
    def help_markup(self) -> str:
        """The help below the name, as markup."""
        return f"{'':{KEY_CELLS}}  {escape(self.help)}"


def run_command(here: MainScreen | ListScreen, command: str) -> None:
    """Run a command on the screen on which the palette was opened, as its key would."""
    here.call_later(here.action_run, command)


class Palette(Provider):
    """Provides candidates, which are listed once, when the palette opens."""

    _entries: list[PaletteEntry]

    async def startup(self) -> None:
        """List the candidates, those first that fit the focused pane."""
        themes, here = cast("ThemedApp", self.app).themes, self.screen
        entries: list[PaletteEntry] = []
        if isinstance(here, MainScreen | ListScreen):
            entries += self._commands(here)
            entries += self._elsewhere(here)
            entries += self._shell()
        entries += (
            PaletteEntry(f"theme {choice.name}", "Use this theme", choice, fit=OTHER) for choice in themes.choices()
        )
        if isinstance(here, MainScreen):
            entries += self._places(here)
        self._entries = sorted(entries, key=lambda entry: (-entry.fit, entry.order))

    def _commands(self, here: MainScreen | ListScreen) -> Iterator[PaletteEntry]:
        session, situation, pane = here.session, here.situation(), here.pane()
        panes = frozenset({pane}) if isinstance(here, ListScreen) else ANYWHERE
        for command in COMMANDS:
            if command.panes & panes:
                reason = command.why_not(session.why_not, situation)
                yield PaletteEntry(
                    command.name,
                    f"{command.help} · unavailable: {visible_line(reason)}" if reason else command.help,
                    partial(run_command, here, command.id),
                    _key(command, session),
                    UNABLE if reason else fit_of(command, pane),
                    not reason,
                    command.footer,
                    command.synonyms,
                )

    def _elsewhere(self, here: MainScreen | ListScreen) -> Iterator[PaletteEntry]:
        """Yield what other screens do: choosing it goes to where it can be done."""
        panes = frozenset({here.pane()}) if isinstance(here, ListScreen) else ANYWHERE
        for command in COMMANDS:
            if command.panes & panes:
                continue
            key = f": {label}" if (label := _key(command, here.session)) else ""
            opener = next((OPENERS[pane] for pane in OPENERS if pane in command.panes), None)
            if isinstance(here, MainScreen) and opener is not None:
                where, go = BY_ID[opener].label, partial(run_command, here, opener)
                yield PaletteEntry(
                    command.name, f"{command.help} · in {where}{key}", go, fit=AWAY, synonyms=command.synonyms
                )
            elif isinstance(here, ListScreen) and command.panes & LISTS:
                go = partial(run_command, here, "rows.close")
                yield PaletteEntry(
                    command.name, f"{command.help} · in the mail{key}", go, fit=AWAY, synonyms=command.synonyms
                )

    def _shell(self) -> Iterator[PaletteEntry]:
        """Yield the commands of the shell: choosing one copies it."""
        for name, command in SHELL.items():
            yield PaletteEntry(
                f"signalbox {name}",
                f"In the shell (enter copies it): {command.summary}",
                partial(self._copy, f"signalbox {name} "),
                fit=AWAY,
            )

    def _copy(self, words: str) -> None:
        self.app.copy_to_clipboard(words)
        self.app.notify(f"Copied: {words}", markup=False)

    def _places(self, here: MainScreen) -> Iterator[PaletteEntry]:
        for place in sidebar_rows(here.session)[:MOST]:
            if place.view is not None:
                kind = PLACES.get(place.view.kind, "View")
                note = f" · {visible_line(place.note)}" if place.note and kind == "Agent" else ""
                name = f"go {visible_line(place.label)}"
                go: Callable[[], None] = partial(here.show_view, place.view)
                if place.command:
                    go = partial(run_command, here, place.command)
                yield PaletteEntry(name, f"{kind}{note}", go, fit=PLACE)
        for role in sorted({role for agent in here.session.mailbox.roster for role in agent.roles()})[:MOST]:
            show = partial(here.show_view, View("role", role))
            yield PaletteEntry(f"go role:{visible_line(role)}", "Role", show, fit=PLACE)

    async def discover(self) -> Hits:
        """Show the candidates before anything is typed."""
        for entry in self._entries[:MOST_SHOWN]:
            yield DiscoveryHit(entry.title(), entry.run, text=entry.name, help=entry.help_markup)

    async def search(self, query: str) -> Hits:
        """Show the candidates that match what was typed, the best first."""
        for score, entry, places in ranked(self._entries, query)[:MOST_SHOWN]:
            yield Hit(score, entry.title(places), entry.run, text=entry.name, help=entry.help_markup)


def fit_of(command: Command, pane: str) -> int:
    """Return how well a command that can act fits a pane."""
    if pane not in command.panes:
        return COMMAND
    return FOOTER if command.footer else MOVE if command.group == "Move" else HERE


def _key(command: Command, session: Session) -> str:
    return command.key_label(session.keymap) if command.keys_in(session.keymap) else ""


def ranked(entries: list[PaletteEntry], query: str) -> list[tuple[float, PaletteEntry, tuple[int, ...]]]:
    """Return the candidates that match, each with a score and the places of the messages in its name, the best first.

    How well the name matches comes first, then how well the candidate fits the pane, then the shorter name. Words of
    the help count as much as text within a name.
    """
    fitting = []
    for entry in entries:
        match = word_match(query, entry.name)
        if entry.fit != PLACE and (match is None or match.rank < WITHIN):
            in_help = word_match(query, f"{entry.help} {entry.synonyms}")
            if in_help is not None and in_help.rank > WITHIN:
                match = WordMatch(WITHIN, ())
        if match is not None:
            fitting.append((match.rank * 100 + entry.fit * 10 - len(entry.name) / 100, entry, match.places))
    return sorted(fitting, key=lambda each: -each[0])


class WordMatch(Struct, frozen=True):
    """How well a query fits, the higher the better, and the places of its messages in the name."""

    rank: int
    places: tuple[int, ...]


@lru_cache(maxsize=1 << 14)
def _words(name: str) -> tuple[tuple[int, str], ...]:
    return tuple((match.start(), match.group()) for match in finditer(r"\w+", name))


def word_match(query: str, name: str) -> WordMatch | None:
    """Return how a query fits a name, without regard to case; None if it doesn't.

    The best fit is the whole name, then its beginning, the beginning of a word, the beginnings of several words
    (`mas` is in `mark all seen`, so is `ma se`), text within a word, and letters in their order anywhere.
    """
    wanted, text = " ".join(query.lower().split()), name.lower()
    if not wanted or len(text) != len(name):  # a few messages are longer in lower case
        return None
    scattered: list[int] = []
    for message in wanted.replace(" ", ""):
        at = text.find(message, scattered[-1] + 1 if scattered else 0)
        if at < 0:
            return None  # every other fit has the messages in their order too
        scattered.append(at)
    at = text.find(wanted)
    if at == 0:
        return WordMatch(WHOLE if text == wanted else BEGINNING, tuple(range(len(wanted))))
    words = _words(text)
    for start, _ in words:
        if text.startswith(wanted, start):
            return WordMatch(PHRASE, tuple(range(start, start + len(wanted))))
    if (places := _beginnings(wanted, words, 0)) is not None:
        first = [start for start, _ in words]
        begun = [place for place in places if place in first]
        return WordMatch(WORDS if begun == first[: len(begun)] else SKIPPING, places)
    if at > 0:
        return WordMatch(WITHIN, tuple(range(at, at + len(wanted))))
    return WordMatch(SCATTERED, tuple(scattered))


def _beginnings(wanted: str, words: tuple[tuple[int, str], ...], index: int) -> tuple[int, ...] | None:
    """Return the places of a query that is made of the beginnings of words from one on, each longer first."""
    wanted = wanted.lstrip()
    if not wanted:
        return ()
    for at in range(index, len(words)):
        start, word = words[at]
        longest = 0
        for message, other in zip(wanted, word, strict=False):
            if message != other:
                break
            longest += 1
        for size in range(longest, 0, -1):
            if size < longest and wanted[size] == " ":
                continue
            rest = _beginnings(wanted[size:], words, at + 1)
            if rest is not None:
                return (*range(start, start + size), *rest)
    return None
