"""`signalbox sync register`: get an account on a relay, and keep its token, which the relay says only once."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from console.cli.plain import put
from console.cli.sync_output import REGISTERED, SyncRegistered
from console.cli.terminal_io import tell
from console.config import config_file, config_folder
from console.errors import UsedWrongly
from console.render.safe import visible_line
from console.toml_errors import in_toml
from mailstore.errors import MailError, StoreError, reason_of
from mailstore.files.append import replace_file
from mailstore.files.durable import sync_folder
from mailstore.files.flushing import flush
from mailstore.files.naming import safe_name
from mailstore.files.whole import open_regular, read_text, read_whole
from mailstore.kinds.agentazall.places import is_agent_name
from mailstore.kinds.agentazall.transports.relay import Registration, register

RESERVED = 4096


def register_agent(words: list[str], *, ca_file: str, allow_plain: bool, is_json: bool) -> int:
    """Register `SERVER AGENT`, an agent by its folder's name; on the relay it is called the same, without its host."""
    if len(words) != 2:
        raise UsedWrongly("a relay and an agent are needed", "signalbox sync register https://HOST:PORT AGENT")
    server, agent = words
    if not is_agent_name(agent) or not agent.isprintable() or {"/", "\\"}.intersection(agent):
        raise UsedWrongly(f'"{visible_line(agent)}" is not the address of an agent', "write the name of its folder")
    name = agent.partition("@")[0]
    authority = Path(ca_file).expanduser().absolute() if ca_file else None
    path = config_folder() / "secrets" / safe_name(f"relay-{name}-{urlsplit(server).netloc}")
    with _new_secret(path) as fd:
        found = register(server, name, ca_file=authority, allow_plain=allow_plain)
        _write(fd, found.secret.reveal())
    sync_folder(path.parent)
    table = _table(server, agent, found, path, authority, allow_plain=allow_plain)
    problem = _added(table)
    if is_json:
        REGISTERED.put(SyncRegistered(agent, found.address, server, str(path), "" if problem else str(config_file())))
    else:
        put(f"Registered {visible_line(agent)} as {visible_line(found.address)}. The token is in {path}")
        put(f"Add this to {config_file()}:\n\n{table}" if problem else f"The account was added to {config_file()}")
    if problem:
        tell(problem, "add the account by hand")
    return 0


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
                f"{path} holds a token already", "use that account, or move the file away to register again"
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


def _table(
    server: str, agent: str, found: Registration, secret: Path, authority: Path | None, *, allow_plain: bool
) -> str:
    """Return the account as a table of the settings."""
    fields: dict[str, object] = {"agent": agent, "server": server}
    if found.address != agent:
        fields["address"] = found.address
    fields["secret_file"] = str(secret)
    if authority:
        fields["ca_file"] = str(authority)
    if allow_plain:
        fields["allow_plain"] = True
    lines = [f"{key} = {in_toml(value)}" for key, value in fields.items()]
    return "\n".join(["[[transports.relay]]", *lines, ""])


def _added(table: str) -> str:
    """Add a table to the settings; return why not, if they can't take it."""
    path = config_file()
    try:
        before = read_text(path) if path.exists() else ""
        text = f"{before.rstrip()}\n\n{table}" if before.strip() else table
        tomllib.loads(text)
        replace_file(path, text.encode())
    except tomllib.TOMLDecodeError:
        return f"{path} can't take a table [[transports.relay]]"
    except UnicodeDecodeError:
        return f"{path} is not UTF-8"
    except (OSError, StoreError) as error:
        return f"{path} can't be written ({reason_of(error)})"
    return ""
