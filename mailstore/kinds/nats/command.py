"""`signalbox nats permissions`: the users of a nats-server's configuration, by which no sender can be forged."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path

from mailstore.errors import MailError, Unsupported, reason_of
from mailstore.files.whole import open_regular
from mailstore.kinds.nats.address import location_of
from mailstore.kinds.nats.nkey import new_seed, user_key
from mailstore.kinds.nats.permissions import grant_for, grant_for_mirror, server_users
from mailstore.kinds.nats.subjects import token_of
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
        raise Unsupported(f"{store.called()} has no server's permissions", "name one with --store nats://HOST/NAME")
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
        raise MailError(f"{folder} can't hold the keys ({reason_of(error)})", "name another folder") from error


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
