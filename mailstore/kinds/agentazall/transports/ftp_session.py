"""One FTP connection, plain or with TLS, bounded in what it takes in and in how long that may last."""

from __future__ import annotations

import ftplib
import re
import socket
import ssl
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress

import msgspec

from mailstore.kinds.agentazall.transports.deadline import Deadline

PIECE = 1 << 16
MOST_NAMES = 200_000
TRANSFER_SECONDS = 600.0
MISSING = "550"
FACT = re.compile(r"([^=;]+)=([^;]*);")
MOST_REPLY_LINES = 1000


class TooLarge(Exception):
    """A file or a listing is larger than what was asked for."""


class Entry(msgspec.Struct, frozen=True):
    """A name in a folder. What the server does not tell is None: the size, whether it is a folder, its change (UTC)."""

    name: str
    size: int | None = None
    is_folder: bool | None = None
    changed: str | None = None


class FtpSession:
    """A connection after login. Raises OSError and ftplib.Error; after one, it can only be closed.

    Names are UTF-8 with surrogates for other bytes; a path with a line end is refused with ValueError.
    """

    def __init__(self, host: str, port: int, *, seconds: float, context: ssl.SSLContext | None) -> None:
        self._ftp = FtpControl(seconds, context)
        self._seconds = seconds
        self._has_facts: bool | None = None
        try:
            with self._limited(seconds * 2):
                self._ftp.connect(host, port)
                if context is not None:
                    self._ftp.auth()
        except BaseException:
            self._ftp.close()
            raise

    def login(self, username: str, secret: str) -> None:
        """Log in; with TLS, data connections are encrypted, too. Raises ftplib.error_perm if that is refused."""
        with self._limited(self._seconds * 2):
            self._ftp.login(wire(username), wire(secret), secure=False)
            if self._ftp.is_encrypted:
                self._ftp.prot_p()
            self._ftp.voidcmd("TYPE I")

    @property
    def is_open(self) -> bool:
        """Return whether this was not closed from our side."""
        return self._ftp.sock is not None

    def is_alive(self) -> bool:
        try:
            with self._limited(self._seconds):
                self._ftp.voidcmd("NOOP")
        except (OSError, EOFError, ftplib.Error):
            return False
        return True

    def names(self, folder: str) -> list[Entry] | None:
        """Return the entries of a folder, None if it is missing. Raises TooLarge."""
        if not self.enter(folder):
            return None
        if self._has_facts is None:
            self._has_facts = self._offers_facts()
        if self._has_facts:
            return [entry for entry in map(_entry, self._lines("MLSD")) if entry is not None]
        try:
            return [Entry(name) for name in self._lines("NLST")]
        except ftplib.error_perm as error:
            # what some servers say of an empty folder
            if str(error).startswith(MISSING):
                return []
            raise

    def enter(self, folder: str) -> bool:
        """Go into a folder; return False if it is missing."""
        return self._done(lambda: self._ftp.voidcmd(f"CWD {wire(folder)}"))

    def make_folder(self, path: str) -> None:
        """Make a folder and those above it, where they are missing."""
        if self.enter(path):
            return
        above = path.rpartition("/")[0]
        if above:
            self.make_folder(above)
        with self._limited(self._seconds):
            try:
                self._ftp.voidcmd(f"MKD {wire(path)}")
            except ftplib.error_perm:
                # another program may have made it
                if not self.enter(path):
                    raise

    def size(self, path: str) -> int | None:
        """Return a file's size, None if it is missing or the server doesn't say."""
        sizes: list[int] = []

        def ask() -> None:
            reply = self._ftp.sendcmd(f"SIZE {wire(path)}")
            if reply[4:].strip().isdecimal():
                sizes.append(int(reply[4:].strip()[:20]))

        return sizes[0] if self._done(ask) and sizes else None

    def changed(self, path: str) -> str | None:
        """Return when a file was changed, as `YYYYMMDDHHMMSS` in UTC; None if the server doesn't say."""
        times: list[str] = []
        self._done(lambda: times.append(self._ftp.sendcmd(f"MDTM {wire(path)}")[4:18]))
        return times[0] if times and times[0].isdecimal() else None

    def fetch(self, path: str, most: int) -> bytes | None:
        """Return a file's bytes, None if it can't be had. Raises TooLarge beyond `most` bytes."""
        data = bytearray()
        try:
            with closing(self._pieces(f"RETR {wire(path)}")) as pieces:
                for piece in pieces:
                    data += piece
                    if len(data) > most:
                        raise TooLarge(f"more than {most} bytes")
        except ftplib.error_perm:
            return None
        return bytes(data)

    def store(self, path: str, data: bytes) -> None:
        with self._limited(TRANSFER_SECONDS) as limit:
            with self._ftp.transfercmd(f"STOR {wire(path)}") as connection:
                limit.watch(connection)
                connection.sendall(data)
                end(connection)
            self._ftp.voidresp()

    def rename(self, path: str, to: str) -> None:
        """Rename a file or folder. Raises ftplib.error_perm if the server does not."""
        with self._limited(self._seconds):
            self._ftp.rename(wire(path), wire(to))

    def close(self) -> None:
        """Say goodbye if the server listens, and close."""
        with suppress(OSError, EOFError, ftplib.Error), self._limited(min(self._seconds, 2.0)):
            self._ftp.quit()
        self._ftp.close()

    def abandon(self) -> None:
        """Close at once, without a word: the exchange is out of step."""
        self._ftp.close()

    def _offers_facts(self) -> bool:
        with self._limited(self._seconds):
            try:
                reply = self._ftp.sendcmd("FEAT")
            except ftplib.error_perm:
                return False
        return any(line.strip().upper().startswith("MLST") for line in reply.split("\n"))

    def _lines(self, command: str) -> list[str]:
        found: list[str] = []
        rest = b""
        with closing(self._pieces(command)) as pieces:
            for piece in pieces:
                *lines, rest = (rest + piece).split(b"\n")
                found += (heard(line.rstrip(b"\r")) for line in lines)
                if len(found) > MOST_NAMES or len(rest) > PIECE:
                    raise TooLarge("an endless name" if len(rest) > PIECE else f"over {MOST_NAMES} names")
        return [*found, heard(rest.rstrip(b"\r"))] if rest else found

    def _pieces(self, command: str) -> Generator[bytes, None, None]:
        with self._limited(TRANSFER_SECONDS) as limit:
            with self._ftp.transfercmd(command) as connection:
                limit.watch(connection)
                while piece := connection.recv(PIECE):
                    yield piece
                end(connection)
            self._ftp.voidresp()

    def _done(self, ask: Callable[[], object]) -> bool:
        """Do something; return False if the server says that it can't."""
        with self._limited(self._seconds):
            try:
                ask()
            except ftplib.error_perm:
                return False
        return True

    @contextmanager
    def _limited(self, seconds: float) -> Iterator[Deadline]:
        with Deadline(seconds) as limit:
            outer, self._ftp.limit = self._ftp.limit, limit
            limit.watch(self._ftp.sock)
            try:
                yield limit
                if limit.has_passed:
                    raise TimeoutError
            except (OSError, EOFError, ftplib.Error):
                if limit.has_passed:
                    raise TimeoutError from None
                raise
            finally:
                self._ftp.limit = outer


def _entry(line: str) -> Entry | None:
    """Return what a line of MLSD tells, None for the folder itself, its parent, and invalid lines."""
    facts, space, name = line.partition(" ")
    if not space:
        return None
    told = {key.lower(): value for key, value in FACT.findall(facts)}
    kind = told.get("type", "").lower()
    if kind in ("cdir", "pdir"):
        return None
    size = told.get("size", "")
    is_folder = {"dir": True, "file": False}.get(kind)
    return Entry(name, int(size) if size.isdecimal() and len(size) < 20 else None, is_folder, told.get("modify"))


class FtpControl(ftplib.FTP_TLS):
    """ftplib's connection with bounded replies, and TLS sessions that are used again for data."""

    def __init__(self, seconds: float, context: ssl.SSLContext | None) -> None:
        self.is_encrypted = context is not None
        self.limit: Deadline | None = None
        self._lines = 0
        # Latin-1 loses no byte of a name
        super().__init__(
            timeout=seconds, context=context or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), encoding="latin-1"
        )

    def connect(
        self, host: str = "", port: int = 0, timeout: float = -999, source_address: tuple[str, int] | None = None
    ) -> str:
        """Connect, with the deadline counting from the first byte."""
        self.host = host
        self.sock = socket.create_connection((host, port), self.timeout)
        if self.limit is not None:
            self.limit.watch(self.sock)
        self.af = self.sock.family
        self.file = self.sock.makefile("r", encoding=self.encoding, newline="\n")
        self.welcome = self.getresp()
        return self.welcome

    def getmultiline(self) -> str:
        self._lines = 0
        return super().getmultiline()

    def getline(self) -> str:
        self._lines += 1
        if self._lines > MOST_REPLY_LINES:
            raise ftplib.error_proto("an endless reply")  # noqa: S321 - an error, no call
        assert self.file is not None
        line = self.file.readline(self.maxline + 1)
        if len(line) > self.maxline:
            raise ftplib.error_proto("a reply without end")  # noqa: S321 - an error, no call
        if not line.endswith("\n"):
            raise EOFError
        return line.rstrip("\r\n")

    def auth(self) -> str:
        reply = super().auth()
        if self.limit is not None:
            self.limit.watch(self.sock)
        return reply

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int | None]:
        """Open a data connection; many servers demand that it continues the TLS session of the control connection."""
        connection, size = ftplib.FTP.ntransfercmd(self, cmd, rest)  # noqa: S321 - FTP_TLS takes no session
        if not self.is_encrypted:
            return connection, size
        session = self.sock.session if isinstance(self.sock, ssl.SSLSocket) else None
        try:
            if self.limit is not None:
                self.limit.watch(connection)
            return self.context.wrap_socket(connection, server_hostname=self.host, session=session), size
        except (OSError, ValueError):
            connection.close()
            raise


def end(connection: socket.socket) -> None:
    """End a TLS connection as some servers demand; others are gone by then."""
    if isinstance(connection, ssl.SSLSocket):
        with suppress(OSError, ValueError):
            connection.unwrap()


def wire(text: str) -> str:
    """Return a text so that its UTF-8 goes over the wire. Raises ValueError if it would end the command."""
    if "\r" in text or "\n" in text or "\0" in text:
        raise ValueError("a line end in a path")
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def heard(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
