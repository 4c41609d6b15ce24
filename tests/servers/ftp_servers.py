"""FTP servers on loopback: pyftpdlib in this process, with and without TLS, and AgentAZAll's own as a program."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from tests.servers.agentazall_programs import free_port, running_server
from tests.servers.certificates import Certificates

USER, PASSWORD = "agents", "a-pass-word"
RIGHTS = "elradfmwMT"


class FtpPlace(msgspec.Struct, frozen=True):
    """A running FTP server, and the folder that it serves."""

    port: int
    root: Path
    username: str = USER
    password: str = PASSWORD
    hang_up: threading.Event = msgspec.field(default_factory=threading.Event)
    """Has pyftpdlib end all sessions as if they had been idle for too long."""


@contextmanager
def python_ftp(
    root: Path, certificates: Certificates | None = None, *, rights: str = RIGHTS, **handling: Any
) -> Iterator[FtpPlace]:
    """Run pyftpdlib, with TLS demanded on both connections if there are certificates; `handling` sets its handler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of asyncore
        from pyftpdlib.authorizers import DummyAuthorizer
        from pyftpdlib.handlers import FTPHandler, TLS_FTPHandler
        from pyftpdlib.ioloop import IOLoop
        from pyftpdlib.servers import FTPServer

    authorizer = DummyAuthorizer()
    authorizer.add_user(USER, PASSWORD, str(root), perm=rights)
    settings: dict[str, Any] = {"authorizer": authorizer, "timeout": 60, "auth_failed_timeout": 0, **handling}
    if certificates:
        settings |= {
            "certfile": str(certificates.certificate), "keyfile": str(certificates.key),
            "tls_control_required": True, "tls_data_required": True, "ssl_context": None,
        }  # fmt: skip
    handler = type("LoopbackHandler", (TLS_FTPHandler if certificates else FTPHandler,), settings)
    loop = IOLoop()
    server = FTPServer(("127.0.0.1", 0), handler, ioloop=loop)
    place, ended = FtpPlace(server.socket.getsockname()[1], root), threading.Event()

    def serve() -> None:
        while not ended.is_set():
            loop.loop(timeout=0.02, blocking=False)
            if place.hang_up.is_set():
                place.hang_up.clear()
                for session in tuple(loop.socket_map.values()):
                    if isinstance(session, FTPHandler):
                        session.handle_timeout()
        server.close_all()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield place
    finally:
        ended.set()
        thread.join(10)


@contextmanager
def agentazall_ftp(folder: Path) -> Iterator[FtpPlace]:
    """Run AgentAZAll's FTP server as a program."""
    root, port, config = folder / "ftp_root", free_port(), folder / "server.json"
    config.write_text(json.dumps({"ftp": {"root": str(root), "user": USER, "password": PASSWORD}}))
    with running_server(
        "ftp_server", "--port", str(port), cwd=folder, ready="Press Ctrl+C", env={"AGENTAZALL_CONFIG": str(config)}
    ) as printed:
        yield FtpPlace(int(printed.partition("Listen: 127.0.0.1:")[2].split()[0]), root)
