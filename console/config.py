"""The user's settings: config.toml, read key by key so that one wrong value never costs the others."""

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
    """The table [attention]: from when on something needs a look."""

    question_minutes: Minutes = 30.0
    """A question that nobody answered."""

    unread_minutes: Minutes = 60.0
    """Mail that a living agent leaves unread."""

    loop_messages: Annotated[int, Meta(gt=2)] = 12
    """Two agents that answer each other so often …"""

    loop_minutes: Minutes = 30.0
    """… in so many minutes, with nobody else."""

    growth_letters: Annotated[int, Meta(gt=0)] = 5
    """So many more dead letters than before …"""

    window_minutes: Minutes = 24 * 60.0
    """… in so many minutes; how far back other concerns look."""

    def limits(self) -> Limits:
        """Return the limits as the mailbox takes them."""
        from mailstore.queries.attention import Limits

        return Limits(**asdict(self))


class ArchiveSettings(Struct, frozen=True):
    """The table [archive]: what the archival leaves in the mailbox."""

    keep: Annotated[int, Meta(ge=0)] = KEEP
    """So many of the newest messages stay, whatever became of them."""

    offer_past: Annotated[int, Meta(ge=0)] = 1000
    """With more messages than this the console offers to archive; 0: it never does."""


class RetentionSettings(Struct, frozen=True):
    """The table [retention]: what the view Recent lists, and what the archival leaves where it is."""

    days: Annotated[float, Meta(gt=0)] | None = None
    """Mail no older than this …"""

    messages: Annotated[int, Meta(gt=0)] | None = None
    """… and of that so many of the newest."""

    def rule(self) -> Retention:
        """Return the rule as the mailbox takes it."""
        return Retention(self.days, self.messages)


Ways = list[Literal["toast", "bell", "osc9", "desktop", "command"]]
Clock = Annotated[str, Meta(pattern=r"^([01]\d|2[0-3])(:[0-5]\d){0,2}$")]


class WakeSettings(Struct, frozen=True):
    """The table [wake]: how a sleeping agent is woken from the console."""

    command: list[str] = []
    """The program and its arguments; it finds SIGNALBOX_AGENT, _IDS, _IDS_FILE, _COUNT, … in its environment."""

    types: list[str] = field(default_factory=lambda: list(WAKING_TYPES))
    """The types of messages that would wake an agent."""


class PolicySettings(Struct, frozen=True):
    """The table [policy]: what agents may do through the commands."""

    to_user: list[str] = []
    """Sessions and roles that may write to the user; where none is named, all may."""


class NotificationSettings(Struct, frozen=True):
    """The table [notifications]: by which ways the person hears of what; an empty list is silence."""

    to_me: Ways = field(default_factory=lambda: ["toast", "bell"])
    """Mail to the user."""

    question: Ways = field(default_factory=lambda: ["toast", "bell"])
    """Questions to the user."""

    dead_letter: Ways = field(default_factory=lambda: ["toast"])
    """A letter that nobody will read unless somebody acts."""

    channel: Ways = []
    """Mail in a channel that the user has joined."""

    command: str = ""
    """A command of the user's; it finds SIGNALBOX_KIND, _COUNT, _ID, _SENDER, _SUBJECT and _TYPE in its environment."""

    quiet_from: Clock | None = None
    """From this time of day, as "22:00", notices come on the screen only …"""

    quiet_to: Clock | None = None
    """… until this one, on the next day where it is earlier."""


class SearchSettings(Struct, frozen=True):
    """How searching is made fast."""

    index: bool = False
    """Keep an index of the words in ~/.cache/signalbox/search, for mailboxes of more than some 100 MB."""


class Config(Struct, frozen=True):
    """What can be set in ~/.config/signalbox/config.toml."""

    store: str | None = None
    """The mailbox to open when none is named: KIND:PATH or a path."""

    user: Annotated[str, Meta(min_length=1)] = "user"
    """Who the person is in the mailbox."""

    theme: str = "night-box"
    """The name of a theme."""

    editor: str | None = None
    """The editor for messages; else $VISUAL, $EDITOR, vi."""

    poll: bool = False
    """Look at the files again and again: for file systems without events, such as NFS."""

    observe: bool = False
    """Write nothing at all."""

    stale_after_minutes: Minutes = 30.0
    """After how long without a sign of life the composer says that an agent was not seen lately."""

    bell: bool = True
    """Ring the terminal's bell for mail to the user."""

    attention: AttentionSettings = field(default_factory=AttentionSettings)
    """From when on something needs a look."""

    archive: ArchiveSettings = field(default_factory=ArchiveSettings)
    wake: WakeSettings = field(default_factory=WakeSettings)
    policy: PolicySettings = field(default_factory=PolicySettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    """What the archival leaves in the mailbox."""

    notifications: NotificationSettings = field(default_factory=NotificationSettings)
    """By which ways the user hears of what."""

    search: SearchSettings = field(default_factory=SearchSettings)

    views: dict[str, str] = field(default_factory=dict)
    """Saved views: queries by their names."""

    keymap: dict[str, str] = field(default_factory=dict)
    """Other keys for commands, by command id (see signalbox keys)."""


class LoadedConfig(NamedTuple):
    """The settings, and what was wrong with them, in sentences."""

    config: Config
    problems: list[str]


def config_folder() -> Path:
    """Return where settings and the user's themes lie."""
    return user_config_path("signalbox")


def state_file() -> Path:
    """Return where the person's own state is kept."""
    return user_state_path("signalbox") / "state.db"


def load_config(path: Path | None = None) -> LoadedConfig:
    """Read the settings; return them and what was wrong, in sentences. A wrong value is its default."""
    path = path or config_folder() / "config.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return LoadedConfig(Config(), [])
    except (OSError, UnicodeDecodeError) as error:
        return LoadedConfig(Config(), [f"{path}: can't be read ({error}): the defaults are used"])
    import tomllib

    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return LoadedConfig(Config(), [f"{path}: no TOML: {error}: the defaults are used"])
    return LoadedConfig(*_read(Config, found, lambda tables, key: f"{path}{_line(text, tables, key)}"))


def _line(text: str, tables: tuple[str, ...], key: str) -> str:
    """Return in which line a key stands, as it follows a file's name; nothing where it can't be found."""
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
    """Return a table made of the values that can be used, and what is wrong with the others; tables in it likewise."""
    inside = "".join(f"[{table}]: " for table in tables)
    good: dict[str, Any] = {}
    problems: list[str] = []
    known = {setting.name: setting for setting in fields(model)}
    for key, value in found.items():
        setting = known.get(key)
        if setting is None:
            problems.append(f"{place(tables, key)}: {inside}there is no setting {key!r}: {_hint(key, known)}")
        elif isinstance(value, dict) and isinstance(setting.type, type) and issubclass(setting.type, Struct):
            good[key], more = _read(setting.type, value, place, (*tables, key))
            problems += more
        else:
            try:
                good[key] = convert(value, setting.type)
            except ValidationError as error:
                default = setting.default if setting.default is not NODEFAULT else setting.default_factory()
                used = "the defaults are used" if isinstance(default, Struct) else f"{default!r} is used"
                problems.append(
                    f"{place(tables, key)}: {inside}{key} = {value!r} is wrong ({str(error).lower()}): {used}"
                )
    return model(**good), problems


def _hint(key: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1)
    return f"did you mean {near[0]!r}?" if near else "it is passed over"
