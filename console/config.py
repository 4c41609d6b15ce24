"""The user's settings: what there is to set, and its defaults."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import asdict
from platformdirs import user_config_path, user_state_path

from mailstore.kinds.agentazall.sync.settings import TransportSettings
from mailstore.rules.retention import KEEP, Retention
from mailstore.rules.waking import WAKING_TYPES

if TYPE_CHECKING:
    from mailstore.queries.attention import Limits

Minutes = Annotated[float, Meta(gt=0)]


class AttentionSettings(Struct, frozen=True):
    """The table [attention]: thresholds for what needs attention."""

    question_minutes: Minutes = 30.0
    """After how long a question without an answer needs attention."""

    unread_minutes: Minutes = 60.0
    """After how long mail left unread by a living agent does."""

    loop_messages: Annotated[int, Meta(gt=2)] = 12
    """How often two agents answer each other, with no one else involved, for it to be a loop."""

    loop_minutes: Minutes = 30.0
    """Within which time they do."""

    growth_letters: Annotated[int, Meta(gt=0)] = 5
    """How many more dead letters than before need attention."""

    window_minutes: Minutes = 24 * 60.0
    """Within which time they came; other concerns look back as far."""

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
    """Mail of the last so many days; not set: of any age."""

    messages: Annotated[int, Meta(gt=0)] | None = None
    """Of that, so many of the newest messages; not set: all."""

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
    """From which time of day, such as "22:00", notifications appear on the screen only."""

    quiet_to: Clock | None = None
    """Until which time of day; on the next day, if it is earlier."""


class HookSettings(Struct, frozen=True):
    """The table [hooks]: what agents get that register by a hook."""

    tags: list[str] = []
    """Their tags, in addition to that of the project, unless $SIGNALBOX_TAGS is set."""


class SendSettings(Struct, frozen=True):
    """The table [send]: what happens to a letter before it is sent."""

    undo_seconds: Annotated[float, Meta(ge=0, le=600)] = 0.0
    """For how long a sent letter is held, so that sending can be undone; 0: send at once."""


class AwaySettings(Struct, frozen=True):
    """The table [away]: after how long an absence the console sums up what happened; 0: never."""

    closed_minutes: Annotated[float, Meta(ge=0)] = 30.0
    """After how many minutes for which it was closed."""

    idle_hours: Annotated[float, Meta(ge=0)] = 3.0
    """After how many hours without a key."""


class AgentMailSettings(Struct, frozen=True):
    """The table [agent_mail]: the server of MCP Agent Mail, through which mail is sent."""

    url: str = ""
    """Its MCP endpoint, such as "http://127.0.0.1:8765/mcp/"; empty: its mail can only be read."""

    secret_file: str = ""
    """A file with its bearer token on the first line, which only you can read."""

    secret_command: list[str] = []
    """A program that prints the token, and its arguments, instead of a file; $SIGNALBOX_AGENT_MAIL_TOKEN goes first."""

    ca_file: str = ""
    """The certificate of the authority that it is signed by, in PEM; empty: those of the system."""


class NatsSettings(Struct, frozen=True):
    """The table [nats]: how to log in to NATS servers; $SIGNALBOX_NATS_CREDS and so on go first."""

    creds: str = ""
    """A creds file, which only you can read."""

    nkey: str = ""
    """A file with the seed of an NKEY, instead."""

    user: str = ""
    """A user's name, instead."""

    password_file: str = ""
    """A file with that user's password on the first line, which only you can read."""

    ca: str = ""
    """The authority's certificate, in PEM, for nats+tls; empty: those of the system."""

    cert: str = ""
    """A certificate of your own in PEM, for servers that ask for one."""

    key: str = ""
    """The key of that certificate."""


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
    """A theme; "auto" and "terminal" follow the terminal's background, "terminal" with its own 16 colours."""

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
    """What archiving keeps in the mailbox."""

    wake: WakeSettings = field(default_factory=WakeSettings)
    """How to wake a sleeping agent from the console."""

    policy: PolicySettings = field(default_factory=PolicySettings)
    """What agents may do through the commands."""

    retention: RetentionSettings = field(default_factory=RetentionSettings)
    """What the view Recent lists, and what archiving keeps."""

    notifications: NotificationSettings = field(default_factory=NotificationSettings)
    """How to notify the user of what."""

    hooks: HookSettings = field(default_factory=HookSettings)
    """What agents get that register by a hook."""

    away: AwaySettings = field(default_factory=AwaySettings)
    """After how long an absence the console sums up what happened; 0: never."""

    send: SendSettings = field(default_factory=SendSettings)
    """What happens to a letter before it is sent."""

    search: SearchSettings = field(default_factory=SearchSettings)
    """How to speed up searches."""

    transports: TransportSettings = field(default_factory=TransportSettings)
    """By which ways signalbox sync carries the mail of an AgentAZAll mailbox."""

    agent_mail: AgentMailSettings = field(default_factory=AgentMailSettings)
    """The server of MCP Agent Mail, through which mail is sent."""

    nats: NatsSettings = field(default_factory=NatsSettings)
    """How to log in to NATS servers; $SIGNALBOX_NATS_CREDS and so on go first."""

    views: dict[str, str] = field(default_factory=dict)
    """Saved views: queries by their names."""

    keymap: dict[str, str] = field(default_factory=dict)
    """Other keys for commands, by command id (see signalbox keys)."""


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
