"""Mail over a relay of AgentAZAll: HTTP with JSON, where fetching deletes; and how an agent registers with one."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from mailstore.errors import reason_of
from mailstore.files.durable import write_durably
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.transports.relay_fetch import Fetched, RelayFetcher
from mailstore.kinds.agentazall.transports.relay_http import RelayAnswer, RelayHttp, refusal_of
from mailstore.kinds.agentazall.transports.relay_wire import (
    agent_of,
    batch_of,
    decode,
    digest,
    excerpt_of,
    message_key,
    message_of,
    payload_of,
)
from mailstore.kinds.agentazall.transports.transport import (
    BLOCKED,
    MOST_BYTES,
    MessageRefused,
    OutgoingMessage,
    Receiver,
    Transport,
    unexpected,
)
from mailstore.kit.secret import Secret, SecretMissing
from mailstore.kit.secure import TransportDown, said

MOST_RESPONSE = 2 * MOST_BYTES
"""Bytes of one answer with messages: what is waiting comes all at once."""
MOST_ANSWER = 1 << 20
SEND_SECONDS = 120.0
POLL_SECONDS = 600.0
EXCERPT = 1 << 16
NOTE = ".token"
"""The ending of a note beside an answer that was for another agent."""
LEAST_ROOM = MOST_BYTES
"""Free bytes on the disk without which nothing is fetched: the relay deletes what it hands out."""


class RelayAccount(msgspec.Struct, frozen=True):
    """One agent on one relay. `address` is its address there: fetching with another agent's token would take its mail.

    `server` is a URL; without TLS only this machine is reached, unless `allow_plain`. `seconds` bounds each read.
    """

    server: str
    address: str
    secret: Secret
    ca_file: Path | None = None
    seconds: float = 30.0
    allow_plain: bool = False


class RelayTransport(Transport):
    """Sends one request for each recipient; fetches all that waits, onto the disk before anything else."""

    kind = "relay"

    def __init__(self, account: RelayAccount) -> None:
        self._account = account
        self._http = RelayHttp(
            account.server, ca_file=account.ca_file, seconds=account.seconds, allow_plain=account.allow_plain
        )
        self.label = f"relay {account.address} at {self._http.place}"
        self._agent = agent_of(account.address)
        self._stranger = ""
        self._passed_by: set[Path] = set()
        """What other accounts left that is not for this one."""
        self._unspooled: list[bytes] = []
        self._fetcher = RelayFetcher(self._poll, self._agent)

    def send(self, message: OutgoingMessage, recipient: str) -> None:
        """Hand a message over; the relay says 404 to a recipient that it doesn't know."""
        value = {"to": recipient, "payload": payload_of(message)}
        token = self._token()
        answer = self._http.exchange("POST", "/send", value=value, token=token, most=MOST_ANSWER, seconds=SEND_SECONDS)
        if not 200 <= answer.status < 300:
            raise self._failed(answer, f"{recipient} has no account on this relay")
        told = decode(answer.body)
        if not isinstance(told, dict) or "message_id" not in told:
            raise TransportDown(f"{self._http.place} does not answer as a relay", "check the server's URL", "E591")

    def prepare(self, receiver: Receiver) -> None:
        """Start the process that fetches; where that fails, it is tried again when it is needed."""
        with suppress(TransportDown, OSError):
            self._http.prepare()
            self._fetcher.start(receiver)

    def receive(self, receiver: Receiver) -> int:
        """Take in what an interrupted run or another account has left, then what waits on the relay."""
        self._spool_again(receiver)
        self._stranger = ""
        taken = sum(self._take_in(receiver, path) for path in receiver.spooled())
        for path, is_agents in receiver.strays():
            if is_agents or _note_of(path).endswith(f" {self._http.place}"):
                taken += self._take_in(receiver, path, is_stray=True)
        self._check_owner()
        _check_room(receiver)
        fetched = self._fetched(receiver)
        taken += self._take_in(receiver, Path(fetched.path), is_new=True) if fetched.path else 0
        self._check_owner()
        if fetched.fault:
            raise TransportDown(
                f"relay {self._http.place} failed ({fetched.fault})",
                f"{taken} messages that came whole are kept; ask for the others",
                "E592",
            )
        return taken

    def _poll(self, token: str) -> RelayAnswer:
        return self._http.exchange("GET", "/messages", token=token, most=MOST_RESPONSE, seconds=POLL_SECONDS)

    def _fetched(self, receiver: Receiver) -> Fetched:
        """Ask the relay, and note what was turned away. Raises TransportDown, MessageRefused and OSError."""
        token = self._token()
        self._http.prepare()
        fetched = self._fetcher.fetched(receiver, token, POLL_SECONDS)
        if fetched.status != 200:
            raise self._failed(fetched.answer, "this URL is not a relay's")
        if not fetched.is_batch:
            receiver.turn_away(f"answer {digest(fetched.body)}", "not a relay's answer", fetched.body)
            raise TransportDown(
                f"{self._http.place} does not answer as a relay" + (f" ({fetched.fault})" if fetched.fault else ""),
                "check the server's URL",
                "E593",
            )
        for key, sender, excerpt in fetched.blocked:
            receiver.turn_away(key, f"{BLOCKED} {sender}", excerpt, sender)
        if fetched.rest:
            receiver.turn_away(f"rest {digest(fetched.rest)}", "part of an answer that can't be read", fetched.rest)
        if fetched.data:
            self._unspooled.append(fetched.data)
            raise OSError(fetched.errno, fetched.strerror)
        return fetched

    def _check_owner(self) -> None:
        if self._stranger:
            raise TransportDown(self._stranger, "give this account its own token; one with that address takes them in")

    def _spool_again(self, receiver: Receiver) -> None:
        while self._unspooled:
            receiver.spool(self._unspooled[0])
            del self._unspooled[0]

    def _take_in(self, receiver: Receiver, path: Path, *, is_new: bool = False, is_stray: bool = False) -> int:
        """Take the messages of a spooled answer in, and remove it; return how many. Raises OSError.

        None where the account that the answer is for has taken it in meanwhile.
        """
        if path in self._passed_by:
            return 0
        try:
            data = read_whole(path, MOST_RESPONSE * 2)
        except (NotAFile, FileNotFoundError):
            return 0
        try:
            batch = batch_of(data)
        except Exception as error:
            receiver.turn_away(f"answer {digest(data)}", unexpected(error), data[:EXCERPT])
            receiver.unspool(path)
            return 0
        if batch is None:
            if not data:
                receiver.unspool(path)
            return 0
        if batch.agent and agent_of(batch.agent) != self._agent:
            token = digest(self._token().encode())
            if is_new:
                # so that nothing more is fetched with this token, and its own account finds what is its
                write_durably(path.with_suffix(NOTE), f"{token} {self._http.place}".encode(), 0o600)
            if is_stray:
                self._passed_by.add(path)
            elif not _note_of(path).startswith(f"{token} "):
                if not batch.messages:
                    receiver.unspool(path)
            else:
                self._stranger = (
                    f"this token belongs to {said(batch.agent)}, not to {self._account.address} "
                    f"({len(batch.messages)} messages fetched with it are in {path})"
                )
            return 0
        taken = 0
        for message in batch.messages:
            try:
                mail = message_of(message)
            except ValueError as error:
                receiver.turn_away(message_key(message), reason_of(error), excerpt_of(message))
                continue
            except Exception as error:
                receiver.turn_away(message_key(message), unexpected(error), excerpt_of(message))
                continue
            taken += not receiver.knows(mail.key)
            receiver.keep(mail)
        receiver.unspool(path)
        path.with_suffix(NOTE).unlink(missing_ok=True)
        return taken

    def _token(self) -> str:
        try:
            return self._account.secret.reveal()
        except SecretMissing as error:
            raise TransportDown(error.problem, error.remedy) from None

    def _failed(self, answer: RelayAnswer, unknown: str) -> TransportDown | MessageRefused:
        with suppress(SecretMissing):
            return refusal_of(answer, self._http.place, unknown, self._account.secret.reveal())
        return refusal_of(answer, self._http.place, unknown)

    def close(self) -> None:
        self._fetcher.close()
        self._http.close()


def _note_of(path: Path) -> str:
    """Return by which token (its digest) and from which relay a spooled answer was fetched, if it was another's."""
    try:
        return read_whole(path.with_suffix(NOTE), EXCERPT).decode("utf-8", "replace")
    except (OSError, NotAFile):
        return ""


def _check_room(receiver: Receiver) -> None:
    """Raise TransportDown where the disk could not take what would be fetched."""
    path = receiver.spool(b"")
    try:
        facts = os.statvfs(path)
    finally:
        receiver.unspool(path)
    if facts.f_bavail * facts.f_frsize < LEAST_ROOM:
        raise TransportDown(
            "the disk is almost full", f"free {LEAST_ROOM >> 20} MiB; until then the mail stays there", "E590"
        )


MOST_REGISTRATION = 1 << 16
SECONDS = 60.0
LONGEST_TOKEN = 1000


class Registration(msgspec.Struct, frozen=True):
    """An agent's address on a relay, and its token, which the relay gives only once."""

    address: str
    secret: Secret


def register(server: str, name: str, *, ca_file: Path | None = None, allow_plain: bool = False) -> Registration:
    """Register a name with a relay. Raises TransportDown, MessageRefused for a name that it refuses, and MailError."""
    http = RelayHttp(server, ca_file=ca_file, allow_plain=allow_plain)
    try:
        answer = http.exchange(
            "POST", "/register", value={"agent_name": agent_of(name)}, most=MOST_REGISTRATION, seconds=SECONDS
        )
    finally:
        http.close()
    if answer.status == 400:
        raise MessageRefused(
            f"relay {http.place} refuses the name {name!r}", "use 3 to 30 of a-z, 0-9, _ and -", "E600"
        )
    if not 200 <= answer.status < 300:
        raise refusal_of(answer, http.place, "this relay does not register agents")
    value = decode(answer.body)
    fields = value if isinstance(value, dict) else {}
    address, token = fields.get("agent_address"), fields.get("api_token")
    if not isinstance(token, str) or not isinstance(address, str) or not 0 < len(token) <= LONGEST_TOKEN:
        raise TransportDown(f"{http.place} does not answer as a relay", "check the server's URL", "E591")
    if not (token.isascii() and token.isprintable()) or " " in token or agent_of(address) != agent_of(name):
        raise TransportDown(f"{http.place} registered something else than {name!r}", "check the server's URL", "E601")
    return Registration(address, Secret.of(token))
