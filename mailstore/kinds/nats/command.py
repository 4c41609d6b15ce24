"""`signalbox nats permissions`: the users of a nats-server's configuration, by which no sender can be forged."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from mailstore.errors import MailError, Unsupported, reason_of
from mailstore.files.whole import open_regular
from mailstore.kinds.nats.address import location_of
from mailstore.kinds.nats.credentials import inbox_of
from mailstore.kinds.nats.nkey import new_seed, user_key
from mailstore.kinds.nats.subjects import Topic, mail_stream, presence_stream, subject, token_of
from mailstore.kit.secret import SecretMissing, private_text
from mailstore.own_commands import CommandAnswer, Program
from mailstore.records.protocol import PERSON
from mailstore.records.roster import Status

ACTIONS = {"permissions": "Print who may write what, for the server's configuration"}
USES_MAILBOX = True
ADMIN, MIRROR = "signalbox-admin", "signalbox-mirror"
WITH_NAMES = (
    "# Log in with SIGNALBOX_NATS_USER and SIGNALBOX_NATS_PASSWORD; nats-server reads the variables named here."
)
WITH_KEYS = "# Log in with SIGNALBOX_NATS_NKEY, the path of the user's own file in {}."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS, help="Print who may write what, for the server's configuration")
    parser.add_argument(
        "--keys",
        type=Path,
        metavar="DIR",
        help="Log in by NKEY, with keys in DIR, made if new (default: passwords in the server's environment)",
    )


def run(args: argparse.Namespace, program: Program) -> CommandAnswer:
    """Return the configuration for the agents that have not ended, and the user."""
    with program.mailbox() as (store, mailbox):
        agents = [agent for agent in mailbox.roster if agent.status is not Status.DEAD]
    if not store.kind.startswith("nats"):
        raise Unsupported(
            f"{store.called()} has no server's permissions", "name one with --store nats://HOST/NAME", "E397"
        )
    named = location_of(store.url.partition(":")[2]).address.mailbox
    names = list(dict.fromkeys([PERSON, *sorted(agent.session_id for agent in agents)]))
    if args.keys is None:
        grants = [*(grant_for(named, name) for name in names), grant_for_mirror(named, MIRROR)]
        variables = _variables([ADMIN, *(grant.user for grant in grants)])
        logins = [f'user: "{grant.user}", password: ${variables[grant.user]}' for grant in grants]
        admin = f'user: "{ADMIN}", password: ${variables[ADMIN]}'
    else:
        keys = _keys(args.keys.expanduser(), [ADMIN, MIRROR, *names])
        grants = [grant_for(named, name, inbox=keys[name]) for name in names]
        grants.append(grant_for_mirror(named, MIRROR, inbox=keys[MIRROR]))
        logins = [f"nkey: {keys[name]}" for name in (*names, MIRROR)]
        admin = f"nkey: {keys[ADMIN]}"
    return CommandAnswer([*_explanation(store.url, args.keys), *server_users(grants, logins, admin).splitlines()])


def _explanation(url: str, keys: Path | None) -> list[str]:
    """Return the comment before the users: what they may do, and how they log in."""
    return [
        f"# Who may write what in {url}: for the configuration of nats-server.",
        "# An agent writes mail, reads, its roster entry and its presence under its own name only; all read all.",
        f"# {ADMIN} is for signalbox init, {MIRROR} for signalbox mirror; give them to no agent.",
        WITH_NAMES if keys is None else WITH_KEYS.format(keys),
    ]


def _variables(users: Sequence[str]) -> dict[str, str]:
    """Return a name of a variable for each user's password, each another."""
    variables: dict[str, str] = {}
    for user in users:
        stem = "PASSWORD_" + re.sub(r"[^A-Z0-9]", "_", user.upper())
        name, number = stem, 1
        while name in variables.values():
            number += 1
            name = f"{stem}_{number}"
        variables[user] = name
    return variables


def _keys(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the public key of each name, from files with their seeds; what has none yet gets one."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return {name: user_key(_seed(folder / f"{token_of(name)}.nk")) for name in names}
    except OSError as error:
        raise MailError(f"{folder} can't hold the keys ({reason_of(error)})", "name another folder", "E398") from error


def _seed(file: Path) -> str:
    try:
        return private_text(file).strip()
    except SecretMissing:
        if os.path.lexists(file):
            raise
    seed = new_seed()
    fd = open_regular(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        os.write(fd, f"{seed}\n".encode("ascii"))
    finally:
        os.close(fd)
    return seed


OWN = (Topic.MAIL, Topic.READ, Topic.ROSTER, Topic.PRESENCE)
PERSONS = (Topic.MAIL, Topic.JOURNAL, Topic.PRESENCE)
ANYONES = (Topic.READ, Topic.ROSTER)
"""What the user may write for agents: settling their mail, and their entries in the roster."""
READING = (
    "$JS.API.STREAM.INFO.{0}",
    "$JS.API.STREAM.MSG.GET.{0}",
    "$JS.API.DIRECT.GET.{0}",
    "$JS.API.DIRECT.GET.{0}.>",
    "$JS.API.CONSUMER.CREATE.{0}",
    "$JS.API.CONSUMER.CREATE.{0}.>",
    "$JS.API.CONSUMER.INFO.{0}.*",
    "$JS.API.CONSUMER.MSG.NEXT.{0}.*",
    "$JS.API.CONSUMER.DELETE.{0}.*",
    "$JS.ACK.{0}.>",
    "$JS.FC.{0}.>",
)
"""What reading a stream takes; nothing of it changes, purges or deletes a stream or a message."""


class Grant(msgspec.Struct, frozen=True):
    """A user of the server, as it logs in, and the subjects that it may publish to and subscribe to."""

    user: str
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def grant_for(mailbox: str, name: str, *, inbox: str = "") -> Grant:
    """Return what an agent, or the user, may do in a mailbox; `inbox` is another name for its answers."""
    user = token_of(name)
    own = PERSONS if name == PERSON else OWN
    written = [subject(mailbox, topic, user) for topic in own]
    if name == PERSON:
        written += [subject(mailbox, topic, "*") for topic in ANYONES]
    streams = (mail_stream(mailbox), presence_stream(mailbox))
    read = [pattern.format(stream) for stream in streams for pattern in READING]
    return Grant(user, (*written, *read), (f"{inbox_of(inbox or user)}.>", subject(mailbox, "*", "*")))


def grant_for_mirror(mailbox: str, user: str, *, inbox: str = "") -> Grant:
    """Return what a program may do that carries everybody's records from another mailbox."""
    streams = (mail_stream(mailbox), presence_stream(mailbox))
    read = [pattern.format(stream) for stream in streams for pattern in READING]
    every = subject(mailbox, "*", "*")
    return Grant(user, (every, *read), (f"{inbox_of(inbox or user)}.>", every))


def server_users(grants: Iterable[Grant], logins: Iterable[str], admin: str) -> str:
    """Return the users of a server's configuration; `logins` says how each logs in, as its lines are written there.

    `admin` is a login without limits, with which mailboxes are made.
    """
    lines = ["authorization {", "  users = [", f"    {{ {admin} }}"]
    for grant, login in zip(grants, logins, strict=True):
        lines += [f"    {{ {login}", "      permissions: {"]
        for verb, subjects in (("publish", grant.publish), ("subscribe", grant.subscribe)):
            quoted = [f"          {json.dumps(each)}" for each in subjects]
            lines += [f"        {verb}: {{ allow: [", *quoted, "        ] }"]
        lines += ["      }", "    }"]
    return "\n".join([*lines, "  ]", "}"])
