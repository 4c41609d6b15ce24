"""The user's settings: what there is to set, and its defaults."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct, defstruct, field
from msgspec.structs import asdict
from platformdirs import user_config_path, user_state_path

from mailstore.rules.presence import WAKING_TYPES
from mailstore.rules.retention import KEEP, Retention

if TYPE_CHECKING:
    from mailstore.queries.attention import Limits

Positive = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(gt=0)]


class AttentionSettings(Struct, frozen=True):
    """The table [attention]: thresholds for what needs attention."""

    question_minutes: Annotated[Positive, "After how long a question without an answer needs attention."] = 30.0
    request_minutes: Annotated[Positive, "After how long a task or review without a result does."] = 4 * 60.0
    unread_minutes: Annotated[Positive, "After how long mail left unread by a living agent does."] = 60.0
    loop_messages: Annotated[
        int,
        Meta(gt=2),
        "How many messages go round between agents, or one repeats, for it to be a loop.",
    ] = 12
    loop_minutes: Annotated[Positive, "Within which time."] = 30.0
    growth_letters: Annotated[Count, "How many more dead letters than before need attention."] = 5
    window_minutes: Annotated[Positive, "Within which time they came; the others look back as far."] = 24 * 60.0
    context_percent: Annotated[Positive, "How full an agent's context has to be, where its program says it."] = 90.0
    turn_minutes: Annotated[
        Positive, "After how long mail left unread does where an agent is known not to have answered since."
    ] = 30.0

    def limits(self) -> Limits:
        """Return the limits for `mailstore.queries.attention`."""
        from mailstore.queries.attention import Limits

        return Limits(**asdict(self))


class ArchiveSettings(Struct, frozen=True):
    """The table [archive]: what archiving keeps in the mailbox."""

    keep: Annotated[int, Meta(ge=0), "How many of the newest messages to keep, whatever their state."] = KEEP
    offer_past: Annotated[int, Meta(ge=0), "With more messages than this, the console offers to archive; 0: never."] = (
        1000
    )


class RetentionSettings(Struct, frozen=True):
    """The table [retention]: what the view Recent lists, and what archiving keeps."""

    days: Annotated[Positive | None, "Mail of the last so many days; not set: of any age."] = None
    messages: Annotated[
        Count | None,
        "Of that, so many of the newest messages; not set: all. Archiving first takes read mail older than a day.",
    ] = None

    def rule(self) -> Retention:
        """Return the rule for the mailbox."""
        return Retention(self.days, self.messages)


Ways = list[Literal["toast", "bell", "osc9", "desktop", "command"]]
Clock = Annotated[str, Meta(pattern=r"^([01]\d|2[0-3])(:[0-5]\d){0,2}$")]


class WakeSettings(Struct, frozen=True):
    """The table [wake]: how to wake a sleeping agent from the console."""

    command: Annotated[
        list[str], "The program and its arguments; SIGNALBOX_AGENT, _IDS, _IDS_FILE, _COUNT, … are in its environment."
    ] = []
    types: Annotated[list[str], "The types of messages that wake an agent."] = field(
        default_factory=lambda: list(WAKING_TYPES)
    )


class PolicySettings(Struct, frozen=True):
    """The table [policy]: what agents may do through the commands."""

    to_user: Annotated[list[str], "Sessions and roles that may write to the user; empty: all may."] = []


class NotificationSettings(Struct, frozen=True):
    """The table [notifications]: how to notify of what; an empty list: not at all."""

    to_me: Annotated[Ways, "Mail to the user."] = field(default_factory=lambda: ["toast", "bell"])
    question: Annotated[Ways, "Questions to the user."] = field(default_factory=lambda: ["toast", "bell"])
    dead_letter: Annotated[Ways, "A message that will stay unread unless the user acts."] = field(
        default_factory=lambda: ["toast"]
    )
    permission: Annotated[Ways, "An agent with hooks waits for your permission."] = field(
        default_factory=lambda: ["toast", "bell"]
    )
    permission_again: Annotated[Ways, "It waits still, after `again_minutes`, and each time that they pass again."] = (
        field(default_factory=lambda: ["toast", "bell", "osc9"])
    )
    again_minutes: Annotated[float, Meta(ge=0), "After how long to notify of a permission again; 0: never."] = 5.0
    channel: Annotated[Ways, "Mail in a channel that the user has joined."] = []
    command: Annotated[
        str, "The user's command; SIGNALBOX_KIND, _COUNT, _ID, _SENDER, _SUBJECT and _TYPE are in its environment."
    ] = ""
    quiet_from: Annotated[
        Clock | None, 'From which time of day, such as "22:00", notifications appear on the screen only.'
    ] = None
    quiet_to: Annotated[Clock | None, "Until which time of day; on the next day, if it is earlier."] = None


class HookSettings(Struct, frozen=True):
    """The table [hooks]: what agents get that register by a hook, and when their tool calls need attention."""

    tags: Annotated[list[str], "Their tags, in addition to that of the project, unless $SIGNALBOX_TAGS is set."] = []
    answer_seconds: Annotated[
        float,
        Meta(ge=0, le=540),
        "How long a permission can be answered here before Codex, Copilot or claude -p asks or refuses by itself.",
    ] = 10.0
    hold_loops: Annotated[
        bool, "Whether agents that keep each other busy are held while the console is open, if their hooks have a gate."
    ] = False
    identical_calls: Annotated[int, Meta(gt=1), "How many identical tool calls in a row need attention."] = 10
    tool_minutes: Annotated[
        Positive, "After how long in one tool call, or at work without any, an agent needs attention."
    ] = 30.0


class SendSettings(Struct, frozen=True):
    """The table [send]: what happens to a message before it is sent."""

    undo_seconds: Annotated[
        float,
        Meta(ge=0, le=600),
        "For how long a sent message is held, so that sending can be undone; 0: send at once.",
    ] = 0.0
    confirm_above: Annotated[
        int,
        Meta(ge=0),
        "A message to more agents than this is sent by a second ctrl+s; 0: by the first, however many they are.",
    ] = 10


class DeliverSettings(Struct, frozen=True):
    """The table [deliver]: how what you write in the console reaches agents with hooks."""

    mine: Annotated[bool, "Whether Codex and OpenCode get it as a user prompt, beside the mail that is its record."] = (
        False
    )


class AwaySettings(Struct, frozen=True):
    """The table [away]: after how long an absence the console sums up what happened; 0: never."""

    closed_minutes: Annotated[float, Meta(ge=0), "After how many minutes for which it was closed."] = 30.0
    idle_hours: Annotated[float, Meta(ge=0), "After how many hours without a key."] = 3.0


class SearchSettings(Struct, frozen=True):
    """The table [search]: how to speed up searches."""

    index: Annotated[bool, "Keep a word index in ~/.cache/signalbox/search, for mailboxes above 64 MB."] = False


class Config(Struct, frozen=True):
    """The settings in ~/.config/signalbox/config.toml."""

    store: Annotated[str | None, "The mailbox to open if none is given: KIND:PATH or a path."] = None
    user: Annotated[str, Meta(min_length=1), "The user's name in the mailbox."] = "user"
    theme: Annotated[
        str, 'A theme; "auto" and "terminal" follow the terminal\'s background, "terminal" with its own 16 colours.'
    ] = "auto"
    editor: Annotated[str | None, "The editor for messages; otherwise $VISUAL, $EDITOR or vi."] = None
    poll: Annotated[bool, "Poll for changes: for file systems without events, such as NFS."] = False
    observe: Annotated[bool, "Write nothing, not even read marks."] = False
    stale_after_minutes: Annotated[
        Positive, "After how long without a sign of life an agent counts as not seen recently."
    ] = 30.0
    bell: Annotated[bool, "Ring the terminal's bell for mail to the user."] = True
    attention: Annotated[AttentionSettings, "Thresholds for what needs attention."] = field(
        default_factory=AttentionSettings
    )
    archive: Annotated[ArchiveSettings, "What archiving keeps in the mailbox."] = field(default_factory=ArchiveSettings)
    wake: Annotated[WakeSettings, "How to wake a sleeping agent from the console."] = field(
        default_factory=WakeSettings
    )
    policy: Annotated[PolicySettings, "What agents may do through the commands."] = field(
        default_factory=PolicySettings
    )
    retention: Annotated[RetentionSettings, "What the view Recent lists, and what archiving keeps."] = field(
        default_factory=RetentionSettings
    )
    notifications: Annotated[NotificationSettings, "How to notify the user of what."] = field(
        default_factory=NotificationSettings
    )
    hooks: Annotated[HookSettings, "What agents get that register by a hook."] = field(default_factory=HookSettings)
    away: Annotated[AwaySettings, "After how long an absence the console sums up what happened; 0: never."] = field(
        default_factory=AwaySettings
    )
    send: Annotated[SendSettings, "What happens to a message before it is sent."] = field(default_factory=SendSettings)
    deliver: Annotated[DeliverSettings, "How what you write in the console reaches agents with hooks."] = field(
        default_factory=DeliverSettings
    )
    search: Annotated[SearchSettings, "How to speed up searches."] = field(default_factory=SearchSettings)
    views: Annotated[dict[str, str], "Saved views: queries by their names."] = {}
    keymap: Annotated[dict[str, str], "Other keys for commands, by command id (see signalbox keys)."] = {}


@cache
def whole_config() -> type[Config]:
    """Return the settings with the tables that installed kinds of mailbox have, after all others."""
    from mailstore.registry import settings_tables

    tables = [
        (name, Annotated[model, about_table(model)], field(default_factory=model))
        for name, model in settings_tables().items()
    ]
    whole = defstruct(
        "Config", tables, bases=(Config,), frozen=True, module=__name__, namespace={"__doc__": Config.__doc__}
    )
    assert issubclass(whole, Config)
    return whole


def about_table(model: type[Struct]) -> str:
    """Return what a table is for, as the first line of its class says after `The table [NAME]:`."""
    words = (model.__doc__ or "").strip().partition("\n")[0].partition("]: ")[2]
    return words[:1].upper() + words[1:]


def config_folder() -> Path:
    """Return the folder of the settings and of the user's themes."""
    return user_config_path("signalbox")


def config_file() -> Path:
    """Return the file of the settings."""
    return config_folder() / "config.toml"


def state_file() -> Path:
    """Return the file of the user's own state."""
    return user_state_path("signalbox") / "state.db"


def log_file() -> Path:
    """Return the file in which the console logs what failed inside it, unless another one is named."""
    return user_state_path("signalbox") / "console.log"
