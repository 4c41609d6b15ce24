"""The user's settings: config.toml, read key by key so that an invalid value doesn't affect the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

from msgspec import NODEFAULT, Meta, Struct, ValidationError, convert, field
from msgspec.structs import asdict, fields
from platformdirs import user_config_path, user_state_path

from mailstore.rules.retention import KEEP, Retention
from mailstore.rules.waking import WAKING_TYPES

if TYPE_CHECKING:
    from mailstore.queries.attention import Limits

__all__ = [
    "ArchiveSettings",
    "AttentionSettings",
    "Config",
    "NotificationSettings",
    "config_folder",
    "load_config",
    "state_file",
]


S = TypeVar("S", bound=Struct)
Minutes = Annotated[float, Meta(gt=0)]


class AttentionSettings(Struct, frozen=True):
    """The table [attention]: thresholds for what needs attention."""

    question_minutes: Minutes = 30.0
    """A question without an answer."""

    unread_minutes: Minutes = 60.0
    """Mail left unread by a living agent."""

    loop_messages: Annotated[int, Meta(gt=2)] = 12
    """Two agents that answer each other this often …"""

    loop_minutes: Minutes = 30.0
    """… within this time, with no one else involved."""

    growth_letters: Annotated[int, Meta(gt=0)] = 5
    """This many more dead letters than before …"""

    window_minutes: Minutes = 24 * 60.0
    """… within this time, which other concerns look back too."""

    def limits(self) -> Limits:
        """Return the limits for `mailstore.queries.attention`."""
        from mailstore.queries.attention import Limits

        return Limits(**asdict(self))


class ArchiveSettings(Struct, frozen=True):
    """The table [archive]: what archiving keeps in the mailbox."""

    keep: Annotated[int, Meta(ge=0)] = KEEP
    """How many of the newest messages to keep, whatever their state."""

    offer_past: Annotated[int, Meta(ge=0)] = 1000
    """With more messages than this, the console offers to archive; 0: never."""


class RetentionSettings(Struct, frozen=True):
    """The table [retention]: what the view Recent lists, and what archiving keeps."""

    days: Annotated[float, Meta(gt=0)] | None = None
    """Mail no older than this …"""

    messages: Annotated[int, Meta(gt=0)] | None = None
    """… and of that this many of the newest."""

    def rule(self) -> Retention:
        """Return the rule for the mailbox."""
        return Retention(self.days, self.messages)


Ways = list[Literal["toast", "bell", "osc9", "desktop", "command"]]
Clock = Annotated[str, Meta(pattern=r"^([01]\d|2[0-3])(:[0-5]\d){0,2}$")]


class WakeSettings(Struct, frozen=True):
    """The table [wake]: how to wake a sleeping agent from the console."""

    command: list[str] = []
    """The program and its arguments; SIGNALBOX_AGENT, _IDS, _IDS_FILE, _COUNT, … are in its environment."""

    types: list[str] = field(default_factory=lambda: list(WAKING_TYPES))
    """The types of messages that wake an agent."""


class PolicySettings(Struct, frozen=True):
    """The table [policy]: what agents may do through the commands."""

    to_user: list[str] = []
    """Sessions and roles that may write to the user; empty: all may."""


class NotificationSettings(Struct, frozen=True):
    """The table [notifications]: how to notify of what; an empty list: not at all."""

    to_me: Ways = field(default_factory=lambda: ["toast", "bell"])
    """Mail to the user."""

    question: Ways = field(default_factory=lambda: ["toast", "bell"])
    """Questions to the user."""

    dead_letter: Ways = field(default_factory=lambda: ["toast"])
    """A message that will stay unread unless the user acts."""

    channel: Ways = []
    """Mail in a channel that the user has joined."""

    command: str = ""
    """The user's command; SIGNALBOX_KIND, _COUNT, _ID, _SENDER, _SUBJECT and _TYPE are in its environment."""

    quiet_from: Clock | None = None
    """From this time of day, such as "22:00", notifications appear on the screen only …"""

    quiet_to: Clock | None = None
    """… until this one, on the next day if it is earlier."""


class HookSettings(Struct, frozen=True):
    """The table [hooks]: what agents get that register by a hook."""

    tags: list[str] = []
    """Their tags, in addition to that of the project, unless $SIGNALBOX_TAGS is set."""


class SearchSettings(Struct, frozen=True):
    """The table [search]: how to speed up searches."""

    index: bool = False
    """Keep a word index in ~/.cache/signalbox/search, for mailboxes above about 100 MB."""


class Config(Struct, frozen=True):
    """The settings in ~/.config/signalbox/config.toml."""

    store: str | None = None
    """The mailbox to open if none is given: KIND:PATH or a path."""

    user: Annotated[str, Meta(min_length=1)] = "user"
    """The user's name in the mailbox."""

    theme: str = "auto"
    """The name of a theme; "auto": for a light or a dark background, as the terminal's is."""

    editor: str | None = None
    """The editor for messages; otherwise $VISUAL, $EDITOR or vi."""

    poll: bool = False
    """Poll for changes: for file systems without events, such as NFS."""

    observe: bool = False
    """Write nothing, not even read marks."""

    stale_after_minutes: Minutes = 30.0
    """After how long without a sign of life an agent counts as not seen recently."""

    bell: bool = True
    """Ring the terminal's bell for mail to the user."""

    attention: AttentionSettings = field(default_factory=AttentionSettings)
    """Thresholds for what needs attention."""

    archive: ArchiveSettings = field(default_factory=ArchiveSettings)
    wake: WakeSettings = field(default_factory=WakeSettings)
    policy: PolicySettings = field(default_factory=PolicySettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    """What archiving keeps in the mailbox."""

    notifications: NotificationSettings = field(default_factory=NotificationSettings)
    """How to notify the user of what."""

    hooks: HookSettings = field(default_factory=HookSettings)
    search: SearchSettings = field(default_factory=SearchSettings)

    views: dict[str, str] = field(default_factory=dict)
    """Saved views: queries by their names."""

    keymap: dict[str, str] = field(default_factory=dict)
    """Other keys for commands, by command id (see signalbox keys)."""


class LoadedConfig(NamedTuple):
    """The settings, and a message for each problem in them."""

    config: Config
    problems: list[str]


def config_folder() -> Path:
    """Return the folder of the settings and of the user's themes."""
    return user_config_path("signalbox")


def state_file() -> Path:
    """Return the file of the user's own state."""
    return user_state_path("signalbox") / "state.db"


def load_config(path: Path | None = None) -> LoadedConfig:
    """Read the settings; return them and a message for each problem. An invalid value is replaced by its default."""
    path = path or config_folder() / "config.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return LoadedConfig(Config(), [])
    except (OSError, UnicodeDecodeError) as error:
        return LoadedConfig(Config(), [f"{path}: can't be read ({error}); using the defaults"])
    import tomllib

    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return LoadedConfig(Config(), [f"{path}: invalid TOML ({error}); using the defaults"])
    return LoadedConfig(*_read(Config, found, lambda tables, key: f"{path}{_line(text, tables, key)}"))


def _line(text: str, tables: tuple[str, ...], key: str) -> str:
    """Return `:LINE` for the line of a key; empty if it can't be found."""
    inside: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("["):
            inside = tuple(part.strip(" \"'") for part in bare.partition("]")[0].strip("[ ").split("."))
            if inside == (*tables, key):
                return f":{number}"
        elif inside == tables and bare.partition("=")[0].strip(" \"'") == key:
            return f":{number}"
    return ""


def _read(
    model: type[S], found: dict[str, Any], place: Callable[[tuple[str, ...], str], str], tables: tuple[str, ...] = ()
) -> tuple[S, list[str]]:
    """Return a table of the valid values, and a message for each invalid one; nested tables likewise."""
    inside = "".join(f"[{table}]: " for table in tables)
    good: dict[str, Any] = {}
    problems: list[str] = []
    known = {setting.name: setting for setting in fields(model)}
    for key, value in found.items():
        setting = known.get(key)
        if setting is None:
            problems.append(f'{place(tables, key)}: {inside}unknown setting "{key}"; {_hint(key, known)}')
        elif isinstance(value, dict) and isinstance(setting.type, type) and issubclass(setting.type, Struct):
            good[key], more = _read(setting.type, value, place, (*tables, key))
            problems += more
        else:
            try:
                good[key] = convert(value, setting.type)
            except ValidationError as error:
                from console.toml_errors import in_toml, must_be

                default = setting.default if setting.default is not NODEFAULT else setting.default_factory()
                used = "using the defaults" if isinstance(default, Struct) else f"using {in_toml(default)}"
                problems.append(f"{place(tables, key)}: {inside}{key} {must_be(error)}; {used}")
    return model(**good), problems


def _hint(key: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1)
    return f'did you mean "{near[0]}"?' if near else "it is ignored"
