"""List the settings and keys, and change them in their file: what each means, and what it would do."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from string import ascii_letters, digits
from typing import Any, ClassVar, cast

from msgspec import Struct
from msgspec.structs import replace
from textual.binding import BindingType

from console.browser.place import is_in_browser
from console.commands.table import BY_ID, COMMANDS
from console.notifications.notifier import Notifier, NotifyingApp
from console.notifications.rules import DeliveryMethod, Occasion
from console.panes.facts import FactPage, facts
from console.panes.list_rows import ListRow
from console.render.safe import visible_line
from console.screens.base_screen import Action, bindings
from console.screens.list_screen import ListScreen
from console.session import Session
from console.settings.config import Config, config_folder, whole_config
from console.settings.config_file import load_config
from console.settings.field_meanings import field_meanings
from console.settings.live_config import AT_THE_START
from console.settings.setting_values import SettingValue, all_settings, set_value, setting, unset_value
from console.settings.theme_switcher import ThemedApp
from console.settings.toml_errors import in_toml
from console.state.undo_history import UndoableAction
from console.widgets.offers import Candidate
from console.words.styles import TextStyles
from mailstore.errors import MailError

KEYS = "keymap."
"""What the names of settings begin with that are the keys of a command."""
NOTIFICATIONS = {f"notifications.{occasion}": occasion for occasion in Occasion}
COMMAND = "command"
"""How the names of settings end that are a program and its arguments, typed as in a shell."""
SHOWN = 60
"""Characters of a value in its row."""


class SettingsList(ListScreen):
    """Every setting, those of tables and of keys after the others; enter changes one."""

    NAME = "settings"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(frozenset({NAME}))]

    def __init__(self, session: Session, styles: TextStyles) -> None:
        super().__init__(session, styles)
        self._found: dict[str, SettingValue] = {}

    def heading(self) -> str:
        return "Settings"

    def placeholder(self) -> tuple[str, ...]:
        return ("Reading…",)

    def subtitle(self, rows: Sequence[ListRow]) -> str:
        number = sum(value.source != "default" for value in self._found.values())
        return f"{number} set of {len(rows)}"

    def on_mount(self) -> None:
        """Read the settings."""
        self.run_task(self._read(), group="settings")

    async def _read(self) -> None:
        """Read the file again."""

        def read() -> dict[str, SettingValue]:
            keys = load_config().config.keymap
            values = all_settings()
            for command in COMMANDS:
                key = SettingValue(f"{KEYS}{command.id}", command.keys, "default", command.keys)
                values.append(replace(setting(key.name), default=key.default) if command.id in keys else key)
            return {value.name: value for value in values}

        self._found = await asyncio.to_thread(read)
        self.redraw()

    def rows(self) -> Sequence[ListRow]:
        return [self._row(value) for value in self._found.values()]

    def _row(self, setting_value: SettingValue) -> ListRow:
        styles, is_set = self.text_styles, setting_value.source != "default"
        value = visible_line(_typed(setting_value)[:SHOWN]) or "–"
        label = BY_ID[setting_value.name.removeprefix(KEYS)].label if setting_value.name.startswith(KEYS) else ""
        return ListRow(
            key=setting_value.name,
            left=(
                (visible_line(setting_value.name), styles.strong if is_set else styles.text),
                (f"  {label}", styles.muted),
            ),
            right=((value, styles.accent if is_set else styles.muted),),
        )

    def target(self, key: str) -> str | None:
        return None

    def about(self, key: str) -> FactPage:
        value = self._found[key]
        table = key.partition(".")[0]
        told = [("setting", key), ("means", _meaning(key)), ("is", _typed(value) or "not set")]
        if value.source != "default":
            place = value.source.removeprefix(f"{config_folder()}/")
            told += [("set in", place), ("default", _typed(value, value.default) or "not set")]
        told.append(("holds", "when the console is opened again" if table in AT_THE_START else "at once"))
        if key.startswith(KEYS):
            told.append(("where", ", ".join(sorted(BY_ID[key.removeprefix(KEYS)].panes))))
        if key in NOTIFICATIONS:
            told.append(("ways", ", ".join(DeliveryMethod)))
        return facts(told)

    def actions(self) -> Mapping[str, Action]:
        return {
            **super().actions(),
            "settings.change": self.enter,
            "settings.reset": self.reset,
            "settings.try": self.try_out,
        }

    def _selected(self) -> SettingValue | None:
        """Return the setting under the cursor if it can be changed here, else say why not."""
        if is_in_browser():
            self.tell("Settings are changed in the terminal in which this console is served")
            return None
        return self._found.get(self.listing.cursor_key or "")

    def enter(self) -> None:
        """Change the setting under the cursor: turn it on or off, choose or type it."""
        if (value := self._selected()) is None:
            return
        if isinstance(value.default, bool):
            self.run_task(self._set(value, in_toml(not value.value)), group="settings")
        elif value.name == "theme":
            self._choose_theme(value)
        else:
            self.run_task(self._ask(value), group="settings")

    def _choose_theme(self, value: SettingValue) -> None:
        """Ask for a theme; the one at the cursor is shown."""
        from console.screens.menu import Menu, MenuChoice

        themes = cast("ThemedApp", self.app).themes
        choices = themes.choices()
        keys = [char for char in f"{digits}{ascii_letters}" if char not in "jkq"]
        offered = [MenuChoice(key, choice.name) for key, choice in zip(keys, choices, strict=False)]

        def chosen(number: int | None) -> None:
            themes.preview(None)
            if number is not None:
                choices[number]()
                self.run_task(self._set(value, in_toml(choices[number].name)), group="settings")

        menu = Menu("Theme", offered, self.text_styles, lambda number: themes.preview(choices[number]))
        self.ask(menu, chosen)

    async def _ask(self, value: SettingValue) -> None:
        """Ask for a value until it is one that the setting can have."""
        from console.screens.prompt import Prompt

        text, detail = _typed(value), _meaning(value.name)
        offered = [Candidate(way) for way in DeliveryMethod] if value.name in NOTIFICATIONS else []
        while True:
            asked = Prompt(value.name, value=text, detail=detail, candidates=lambda: offered)
            answer = await self.ask_and_wait(asked)
            if answer is None or answer == _typed(value):
                return
            try:
                await self._change(value, _read(value, answer))
                return
            except MailError as error:
                text, detail = answer, f"{error.problem}: {error.remedy}"

    async def _set(self, setting_value: SettingValue, value: str | None) -> None:
        try:
            await self._change(setting_value, value)
        except MailError as error:
            self.report(error, title=f"{setting_value.name} was not changed")

    async def _change(self, setting_value: SettingValue, value: str | None) -> None:
        """Set a setting, or take it out of the file; what it was is restored by undo. Raises MailError."""
        before = None if setting_value.source == "default" else in_toml(setting_value.value)
        await self._write(setting_value.name, value)
        self.session.undo_history.add(
            UndoableAction(
                f"{setting_value.name} {'reset' if value is None else 'set'}",
                lambda: self._write_again(setting_value.name, before),
                lambda: self._write_again(setting_value.name, value),
            )
        )
        later = " when the console is opened again" if setting_value.name.partition(".")[0] in AT_THE_START else ""
        words = f"{setting_value.name} is {visible_line(_typed(self._found[setting_value.name])) or 'not set'}{later}"
        self.tell(f"{words} · z: undo")

    async def _write(self, name: str, value: str | None) -> None:
        await asyncio.to_thread(unset_value, name) if value is None else await asyncio.to_thread(set_value, name, value)
        await self._read()

    def _write_again(self, name: str, value: str | None) -> None:
        self.run_app_task(self._write(name, value), group="settings")  # its errors are reported

    def reset(self) -> None:
        """Take the setting under the cursor out of the file."""
        value = self._selected()
        if value is not None and value.source == "default":
            self.tell("Its default holds already")
        elif value is not None and value.source.startswith("$"):
            self.tell(f"It is set by {value.source}")
        elif value is not None:
            self.run_task(self._set(value, None), group="settings")

    def try_out(self) -> None:
        """Notify the user by the ways under the cursor, as of a message that came now."""
        occasion = NOTIFICATIONS.get(self.listing.cursor_key or "")
        if occasion is None:
            self.tell("Only notifications can be tried: choose one of notifications.…")
            return
        self.run_task(self._try(occasion), group="settings")

    async def _try(self, occasion: Occasion) -> None:
        config = (await asyncio.to_thread(load_config)).config
        ways = Notifier(cast("NotifyingApp", self.app), self.session).try_out(occasion, config)
        self.tell(f"Notified by {', '.join(ways)}" if ways else "No way is set, or it is a quiet hour")


def _meaning(key: str) -> str:
    table, _, name = key.rpartition(".")
    if key.startswith(KEYS):
        return BY_ID[key.removeprefix(KEYS)].help
    model: type[Struct] = type(getattr(whole_config()(), table)) if table else Config
    return field_meanings(model).get(name, "")


def _typed(setting_value: SettingValue, value: Any = ...) -> str:
    """Return a value as it is typed."""
    value = setting_value.value if value is ... else value
    if isinstance(value, list):
        return shlex.join(value) if setting_value.name.endswith(COMMAND) else ", ".join(value)
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else in_toml(value) if isinstance(value, bool) else str(value)


def _read(value: SettingValue, text: str) -> str | None:
    """Return what was typed as TOML has it; None for a setting that is not set."""
    if isinstance(value.default, list):
        try:
            words = shlex.split(text) if value.name.endswith(COMMAND) else text.split(",")
        except ValueError:
            words = [text]
        return in_toml([word.strip() for word in words if word.strip()])
    return in_toml(text) if isinstance(value.default, str) else text or None
