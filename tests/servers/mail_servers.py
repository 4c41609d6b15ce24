"""Mail servers on loopback that others wrote: AgentAZAll's own, aiosmtpd, and dovecot where it is installed."""

from __future__ import annotations

import getpass
import grp
import json
import os
import pwd
import re
import select
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from tests.patience import PATIENCE
from tests.servers.agentazall_programs import free_port, running_server
from tests.servers.certificates import Certificates

PASSWORD = "password"
SYSTEM_PROGRAMS = "/usr/sbin:/usr/bin:/sbin:/bin"
_numbers = count(1_000_000)


class AgentMailServer(msgspec.Struct, frozen=True):
    """A running e-mail server of AgentAZAll: its ports, and the folder in which it keeps mail."""

    smtp: int
    imap: int
    pop3: int
    data: Path

    def account(self, address: str) -> str:
        """Make an account, with the password of all of them; return its address."""
        path = self.data / "accounts.json"
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps({**json.loads(path.read_text()), address: {"password": PASSWORD}}))
        os.utime(draft, (path.stat().st_mtime + 1,) * 2)
        draft.replace(path)
        self.folder(address, "INBOX").mkdir(parents=True)
        return address

    def folder(self, address: str, name: str) -> Path:
        return self.data / address.replace("@", "_at_") / name

    def put(self, address: str, data: bytes, folder: str = "INBOX") -> str:
        """Put a message into a folder as it is; return its number."""
        number = str(next(_numbers))
        place = self.folder(address, folder)
        place.mkdir(exist_ok=True)
        (place / f"{number}.eml").write_bytes(data)
        return number

    def files(self, address: str) -> dict[str, bytes]:
        """Return every file of an account."""
        found = self.data / address.replace("@", "_at_")
        return {str(path.relative_to(found)): path.read_bytes() for path in found.rglob("*") if path.is_file()}


@contextmanager
def running_mail_server(folder: Path) -> Iterator[AgentMailServer]:
    """Start AgentAZAll's e-mail server with its mail in a folder."""
    data = folder / "mail"
    ports = [str(free_port()) for _ in range(3)]
    words = ("--smtp-port", ports[0], "--imap-port", ports[1], "--pop3-port", ports[2], "--data-dir", str(data))
    with running_server("email_server", *words, "--create-accounts", "1", cwd=folder, ready="Press Ctrl+C") as printed:
        smtp, imap, pop3 = (int(port) for port in re.findall(r"(?:SMTP|IMAP|POP3) *: 127.0.0.1:(\d+)", printed))
        yield AgentMailServer(smtp, imap, pop3, data)


class Taken(msgspec.Struct, frozen=True):
    """What a server took."""

    sender: str
    recipients: Sequence[str]
    data: bytes


class TakenMail:
    """What aiosmtpd has taken; recipients whose names begin with `no-` are refused, those with `later-` for now."""

    def __init__(self, *, login: bool) -> None:
        self.messages: list[Taken] = []
        self.port = 0
        self.login = login

    async def handle_MAIL(self, _server: Any, session: Any, envelope: Any, address: str, _options: Any) -> str:  # noqa: N802
        if self.login and not session.authenticated:
            return "530 5.7.0 Authentication required"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:  # noqa: N802
        if address.startswith("no-"):
            return "550 5.1.1 no such\tperson\x1b[31m here"
        if address.startswith("later-"):
            return "451 4.7.1 greylisted"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        if b"refuse-me" in envelope.content:
            return "554 5.7.1 looks like spam"
        self.messages.append(Taken(envelope.mail_from, tuple(envelope.rcpt_tos), envelope.content))
        return "250 taken"


@contextmanager
def taking_mail(
    tls: ssl.SSLContext | None = None, *, starttls: bool = False, login: bool = False, port: int = 0
) -> Iterator[TakenMail]:
    """Run aiosmtpd in a thread: with TLS, with STARTTLS, with a login for ann and the one password."""

    def known(_server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> AuthResult:
        is_right = isinstance(data, LoginPassword) and (data.login, data.password) == (b"ann", PASSWORD.encode())
        return AuthResult(success=is_right, handled=is_right)

    taken = TakenMail(login=login)
    server = Controller(
        taken, hostname="127.0.0.1", port=port or free_port(), ssl_context=None if starttls else tls,
        tls_context=tls if starttls else None, require_starttls=starttls, authenticator=known if login else None,
        auth_require_tls=False, enable_SMTPUTF8=True, data_size_limit=200_000,
    )  # fmt: skip
    server.start()
    try:
        taken.port = server.port
        yield taken
    finally:
        server.stop()


class Dovecot(msgspec.Struct, frozen=True):
    """A running dovecot: its ports with TLS from the start and with STARTTLS; anybody has the one password."""

    imaps: int
    imap: int
    pop3s: int
    pop3: int
    mail: Path

    def put(self, user: str, data: bytes, folder: str = "") -> Path:
        """Put a message into the inbox or another folder of somebody."""
        place = self.mail / user / (f".{folder}" if folder else "")
        for each in ("cur", "new", "tmp"):
            (place / each).mkdir(parents=True, exist_ok=True)
        path = place / "new" / f"{1_800_000_000 + next(_numbers)}.test"
        path.write_bytes(data)
        if os.getuid() == 0:
            for made in (self.mail / user, *(self.mail / user).rglob("*")):
                shutil.chown(made, self.mail.owner(), self.mail.group())
        return path


DOVECOT = """
base_dir = {run}
state_dir = {run}
log_path = {folder}/log
protocols = imap pop3
listen = 127.0.0.1
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {login}
first_valid_uid = 0
first_valid_gid = 0
mail_location = maildir:{folder}/mail/%u
ssl = yes
ssl_cert = <{certificate}
ssl_key = <{key}
disable_plaintext_auth = no
auth_failure_delay = 0
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = {imaps}
  }}
}}
service pop3-login {{
  chroot =
  inet_listener pop3 {{
    port = {pop3}
  }}
  inet_listener pop3s {{
    port = {pop3s}
  }}
}}
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={folder}/mail/%u
}}
"""


@contextmanager
def running_dovecot(shown: Certificates) -> Iterator[Dovecot]:
    """Start dovecot, with its mail in a folder of its own; skip the test where it is not installed."""
    program = shutil.which("dovecot", path=SYSTEM_PROGRAMS)
    if program is None:
        pytest.skip("dovecot is not installed")
    imaps, imap, pop3s, pop3 = (free_port() for _ in range(4))
    # root gives its parts other users, and those must reach the folder
    user, login = ("dovecot", "dovenull") if os.getuid() == 0 else (getpass.getuser(),) * 2
    with TemporaryDirectory(prefix="dovecot-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        for name in ("run", "mail"):
            (folder / name).mkdir()
        if os.getuid() == 0:
            shutil.chown(folder / "mail", user)
        (folder / "dovecot.conf").write_text(
            DOVECOT.format(
                folder=folder, run=folder / "run", user=user, login=login,
                group=grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name,
                certificate=shown.certificate, key=shown.key, password=PASSWORD,
                imaps=imaps, imap=imap, pop3s=pop3s, pop3=pop3,
            )
        )  # fmt: skip
        with subprocess.Popen(
            [program, "-F", "-c", str(folder / "dovecot.conf")], env={"PATH": SYSTEM_PROGRAMS},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as server:  # fmt: skip
            try:
                _wait_for(pop3, imaps)
                yield Dovecot(imaps, imap, pop3s, pop3, folder / "mail")
            finally:
                server.terminate()
                server.wait()


def _wait_for(*ports: int) -> None:
    """Wait until all of these ports are listened on."""
    for port in ports:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                select.select([], [], [], 0.01)
