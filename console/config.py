"""The user's settings: config.toml, read key by key so that one wrong value never costs the others."""

from __future__ import annotations

import tomllib
from datetime import time
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from platformdirs import user_config_path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from mailstore.archival import KEEP
from mailstore.attention import Limits
from mailstore.retention import Retention
from mailstore.waking import WAKING_TYPES

__all__ = ["Archive", "Attention", "Config", "Notifications", "config_folder", "load_config"]


class Attention(BaseModel):
    """The table [attention]: from when on something needs a look."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    question_minutes: Annotated[float, Field(gt=0, strict=False)] = 30.0
    """A question that nobody answered."""

    unread_minutes: Annotated[float, Field(gt=0, strict=False)] = 60.0
    """Mail that a living agent leaves unread."""

    loop_messages: Annotated[int, Field(gt=2)] = 12
    """Two agents that answer each other so often …"""

    loop_minutes: Annotated[float, Field(gt=0, strict=False)] = 30.0
    """… in so many minutes, with nobody else."""

    growth_letters: Annotated[int, Field(gt=0)] = 5
    """So many more dead letters than before …"""

    window_minutes: Annotated[float, Field(gt=0, strict=False)] = 24 * 60.0
    """… in so many minutes; how far back other concerns look."""

    def limits(self) -> Limits:
        """Return the limits as the mailbox takes them."""
        return Limits(**self.model_dump())


class Archive(BaseModel):
    """The table [archive]: what the archival leaves in the mailbox."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    keep: Annotated[int, Field(ge=0)] = KEEP
    """So many of the newest messages stay, whatever became of them."""

    offer_past: Annotated[int, Field(ge=0)] = 1000
    """With more messages than this the console offers to archive; 0: it never does."""


class RetentionSettings(BaseModel):
    """The table [retention]: what the view Recent lists, and what the archival leaves where it is."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    days: Annotated[float, Field(gt=0, strict=False)] | None = None
    """Mail no older than this …"""

    messages: Annotated[int, Field(gt=0)] | None = None
    """… and of that so many of the newest."""

    def rule(self) -> Retention:
        """Return the rule as the mailbox takes it."""
        return Retention(self.days, self.messages)


def _is_clock(text: str | None) -> str | None:
    if text is not None:
        time.fromisoformat(text)
    return text


Ways = list[Literal["toast", "bell", "osc9", "desktop", "command"]]
Clock = Annotated[str | None, AfterValidator(_is_clock)]


class Wake(BaseModel):
    """The table [wake]: how a sleeping agent is woken from the console."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    command: list[str] = []
    """The program and its arguments; it finds SIGNALBOX_AGENT, _IDS, _COUNT, _TYPES and _STORE in its environment."""

    types: list[str] = list(WAKING_TYPES)
    """The types of messages that would wake an agent."""


class Policy(BaseModel):
    """The table [policy]: what agents may do through the commands."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    to_user: list[str] = []
    """Sessions and roles that may write to the user; where none is named, all may."""


class Notifications(BaseModel):
    """The table [notifications]: by which ways the person hears of what; an empty list is silence."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    to_me: Ways = ["toast", "bell"]
    """Mail to the user."""

    question: Ways = ["toast", "bell"]
    """Questions to the user."""

    dead_letter: Ways = ["toast"]
    """A letter that nobody will read unless somebody acts."""

    channel: Ways = []
    """Mail in a channel that the user has joined."""

    command: str = ""
    """A command of the user's; it finds SIGNALBOX_KIND, _COUNT, _ID, _SENDER, _SUBJECT and _TYPE in its environment."""

    quiet_from: Clock = None
    """From this time of day, as "22:00", notices come on the screen only …"""

    quiet_to: Clock = None
    """… until this one, on the next day where it is earlier."""


class Config(BaseModel):
    """What can be set in ~/.config/signalbox/config.toml."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    store: str | None = None
    """The mailbox to open when none is named: KIND:PATH or a path."""

    user: Annotated[str, Field(min_length=1)] = "user"
    """Who the person is in the mailbox."""

    theme: str = "night-box"
    """The name of a theme."""

    editor: str | None = None
    """The editor for messages; else $VISUAL, $EDITOR, vi."""

    poll: bool = False
    """Look at the files again and again: for file systems without events, such as NFS."""

    observe: bool = False
    """Write nothing at all."""

    stale_after_minutes: Annotated[float, Field(gt=0, strict=False)] = 30.0
    """After how long without a sign of life the composer says that an agent was not seen lately."""

    bell: bool = True
    """Ring the terminal's bell for mail to the user."""

    attention: Attention = Field(default_factory=Attention)
    """From when on something needs a look."""

    archive: Archive = Field(default_factory=Archive)
    wake: Wake = Field(default_factory=Wake)
    policy: Policy = Field(default_factory=Policy)
    retention: RetentionSettings = Field(default_factory=RetentionSettings)
    """What the archival leaves in the mailbox."""

    notifications: Notifications = Field(default_factory=Notifications)
    """By which ways the user hears of what."""

    views: dict[str, str] = Field(default_factory=dict)
    """Saved views: queries by their names."""

    keymap: dict[str, str] = Field(default_factory=dict)
    """Other keys for commands, by command id (see signalbox keys)."""


class Loaded(NamedTuple):
    """The settings, and what was wrong with them, in sentences."""

    config: Config
    problems: list[str]


def config_folder() -> Path:
    """Return where settings and the user's themes lie."""
    return user_config_path("signalbox")


def load_config(path: Path | None = None) -> Loaded:
    """Read the settings; return them and what was wrong, in sentences. A wrong value is its default."""
    path = path or config_folder() / "config.toml"
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Loaded(Config(), [])
    except tomllib.TOMLDecodeError as error:
        return Loaded(Config(), [f"{path}: no TOML: {error}: the defaults are used"])
    except (OSError, UnicodeDecodeError) as error:
        return Loaded(Config(), [f"{path}: can't be read ({error}): the defaults are used"])
    good, problems = _read(Config, found, str(path))
    return Loaded(Config.model_validate(good), problems)


def _read(model: type[BaseModel], found: dict[str, Any], place: str) -> tuple[dict[str, Any], list[str]]:
    """Return a table's values that can be used, and what is wrong with the others; tables in it likewise."""
    good: dict[str, Any] = {}
    problems: list[str] = []
    for key, value in found.items():
        field = model.model_fields.get(key)
        if field is None:
            near = get_close_matches(key, model.model_fields, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "it is passed over"
            problems.append(f"{place}: there is no setting {key!r}: {hint}")
            continue
        inner = field.annotation
        if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, BaseModel):
            good[key], more = _read(inner, value, f"{place}: [{key}]")
            problems += more
            continue
        try:
            model.model_validate({key: value})
        except ValidationError as error:
            why = error.errors()[0]["msg"].lower()
            default = field.get_default(call_default_factory=True)
            used = f"{default!r} is used" if not isinstance(default, BaseModel) else "the defaults are used"
            problems.append(f"{place}: {key} = {value!r} is wrong ({why}): {used}")
        else:
            good[key] = value
    return good, problems
