"""`signalbox sync register`: get an account on a relay, and keep its token, which the relay says only once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from mailstore.errors import MailError
from mailstore.files.durable import sync_folder
from mailstore.files.flushing import flush
from mailstore.files.naming import safe_name
from mailstore.files.whole import open_regular, read_whole
from mailstore.kinds.agentazall.places import is_agent_name
from mailstore.kinds.agentazall.sync.command_rows import SyncRegistered
from mailstore.kinds.agentazall.transports.relay import Registration, register
from mailstore.own_commands import CommandAnswer, Program, WrongArguments
from mailstore.server_settings import program_settings

RESERVED = 4096
HEADER = "[[transports.relay]]"


def register_agent(words: list[str], program: Program, *, ca_file: str, allow_plain: bool) -> CommandAnswer:
    """Register `SERVER AGENT`, an agent by its folder's name; on the relay it is called the same, without its host."""
    if len(words) != 2:
        raise WrongArguments(
            "a relay and an agent are needed", "signalbox sync register https://HOST:PORT AGENT", "E268"
        )
    server, agent = words
    if not is_agent_name(agent) or not agent.isprintable() or {"/", "\\"}.intersection(agent):
        raise WrongArguments(f'"{agent}" is not the address of an agent', "write the name of its folder", "E540")
    name = agent.partition("@")[0]
    authority = Path(ca_file).expanduser().absolute() if ca_file else None
    settings = program_settings()
    path = settings.file.parent / "secrets" / safe_name(f"relay-{name}-{urlsplit(server).netloc}")
    with _new_secret(path) as fd:
        registration = register(server, name, ca_file=authority, allow_plain=allow_plain)
        _write(fd, registration.secret.reveal())
    sync_folder(path.parent)
    table, problem = settings.add(
        HEADER, _account(server, agent, registration, path, authority, allow_plain=allow_plain)
    )
    if problem:
        program.tell(problem, "add the account by hand")
    added = f"Add this to {settings.file}:\n\n{table}" if problem else f"The account was added to {settings.file}"
    return CommandAnswer(
        [f"Registered {agent} as {registration.address}. The token is in {path}", *added.splitlines()],
        SyncRegistered(agent, registration.address, server, str(path), "" if problem else str(settings.file)),
    )


@contextmanager
def _new_secret(path: Path) -> Iterator[int]:
    """Open a file for a secret, with room on the disk, before there is one; it is removed if none comes."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    try:
        fd = open_regular(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW)
    except FileExistsError:
        if read_whole(path).strip():
            raise MailError(
                f"{path} holds a token already", "use that account, or move the file away to register again", "E541"
            ) from None
        fd = open_regular(path, os.O_WRONLY | os.O_NOFOLLOW)  # of a run that was killed
    is_written = False
    try:
        os.write(fd, b"\n" * RESERVED)
        flush(fd)
        yield fd
        is_written = True
    finally:
        os.close(fd)
        if not is_written:
            path.unlink()


def _write(fd: int, token: str) -> None:
    data = token.encode() + b"\n"
    os.pwrite(fd, data, 0)
    os.ftruncate(fd, len(data))
    flush(fd)


def _account(
    server: str, agent: str, registration: Registration, secret: Path, authority: Path | None, *, allow_plain: bool
) -> dict[str, object]:
    """Return the account as a table of the settings."""
    fields: dict[str, object] = {"agent": agent, "server": server}
    if registration.address != agent:
        fields["address"] = registration.address
    fields["secret_file"] = str(secret)
    if authority:
        fields["ca_file"] = str(authority)
    if allow_plain:
        fields["allow_plain"] = True
    return fields
