"""What there is to set for transports: the table [transports] of config.toml."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

Text = Annotated[str, Meta(min_length=1)]
Port = Annotated[int, Meta(ge=1, le=65535)]
Seconds = Annotated[float, Meta(gt=0, le=600)]


class _Account(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all accounts have: whose it is, and where its secret is."""

    agent: Annotated[Text, "The agent's address: the name of its folder."]
    server: Annotated[Text, "The server: a host's name; for a relay, its URL."]
    secret_file: Annotated[str, "A file with the password or token; only its owner may be able to read it."] = ""
    secret_env: Annotated[str, "A variable of the environment with the secret, instead of a file."] = ""
    secret_command: Annotated[list[str], "A program that prints the secret, and its arguments, instead of a file."] = []
    ca_file: Annotated[str, "Certificates of the authorities to trust instead of the system's."] = ""
    seconds: Annotated[Seconds, "How long to wait for the server."] = 30.0
    address: Annotated[str, "The agent's own address there, if it is not the name of its folder."] = ""
    addresses: Annotated[dict[str, str], "What other agents are called there, by the names they have here."] = {}


class RelaySettings(_Account, frozen=True):
    """A table [[transports.relay]]; `server` is a URL."""

    allow_plain: Annotated[bool, "Send the token without TLS to another machine too."] = False


class _MailAccount(_Account, frozen=True):
    """What accounts on mail servers have."""

    port: Annotated[Port | None, "Its port; not set: the usual one."] = None
    security: Annotated[
        Literal["tls", "starttls", "none"], "TLS from the beginning, TLS after a greeting, or none."
    ] = "tls"
    username: Annotated[str, "The user's name there; empty: the agent's address."] = ""


class SmtpSettings(_MailAccount, frozen=True):
    """A table [[transports.smtp]]: mail is sent there."""


class Pop3Settings(_MailAccount, frozen=True):
    """A table [[transports.pop3]]: mail is received from there."""


class ImapSettings(_MailAccount, frozen=True):
    """A table [[transports.imap]]: mail is received from there."""

    folders: Annotated[list[Text], Meta(min_length=1), "The folders that are fetched."] = field(
        default_factory=lambda: ["INBOX"]
    )


class FtpSettings(_Account, frozen=True):
    """A table [[transports.ftp]]."""

    port: Annotated[Port | None, "Its port; not set: the usual one."] = None
    security: Annotated[Literal["tls", "none"], "TLS or none."] = "tls"
    username: Annotated[str, "The user's name there; empty: the agent's address."] = ""
    root: Annotated[Text, "The folder there below which the mail is."] = "/"


class FilterSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The table [transports.filter]: whose mail is taken in, by patterns such as "*@example.org"."""

    mode: Annotated[
        Literal["blacklist", "whitelist", "off"],
        'What the lists mean: whom to keep out, whom alone to let in; "off": let everybody in.',
    ] = "blacklist"
    blacklist: Annotated[list[str], 'Senders that are kept out, in each mode but "off".'] = []
    whitelist: Annotated[list[str], 'Senders that are let in where the mode is "whitelist"; empty: all.'] = []


class TransportSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The table [transports]: by which ways signalbox sync carries the mail of an AgentAZAll mailbox."""

    mailbox: Annotated[str, "The folder of mailboxes; otherwise the mailbox of --store or of the settings."] = ""
    agents: Annotated[
        list[str], "The agents whose mail is carried; otherwise all with an account, and without accounts all."
    ] = []
    every_seconds: Annotated[Seconds, "How often to look for mail."] = 10.0
    filter: Annotated[FilterSettings, "For agents whose own config.json has none."] = field(
        default_factory=FilterSettings
    )
    relay: Annotated[
        list[RelaySettings], "Accounts on relays, each a table [[transports.relay]]; see docs/sync.md for all of these."
    ] = []
    smtp: Annotated[list[SmtpSettings], "Accounts by which e-mail is sent."] = []
    imap: Annotated[list[ImapSettings], "Accounts from which e-mail is fetched, by folders."] = []
    pop3: Annotated[list[Pop3Settings], "Accounts from which e-mail is fetched."] = []
    ftp: Annotated[list[FtpSettings], "Accounts on FTP servers."] = []
