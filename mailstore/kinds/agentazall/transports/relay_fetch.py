"""Fetch what waits on a relay and put it on the disk, in a process that does both or neither."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe

import msgspec

from mailstore.encoding import as_json, from_json
from mailstore.kinds.agentazall.transports.relay_http import RelayAnswer
from mailstore.kinds.agentazall.transports.relay_wire import (
    Batch,
    agent_of,
    batch_of,
    encoded,
    excerpt_of,
    message_key,
    sender_of,
)
from mailstore.kinds.agentazall.transports.transport import Receiver
from mailstore.kit.secure import TransportDown

_in_parent: set[Connection] = set()
"""Our ends of all pipes: a process that had another's would keep it from seeing the end."""


class ProcessLost(Exception):
    """The process ended without a result, or took too long."""


class OutlivingProcess:
    """Answers requests with `work`, one at a time, until `close` or until this process ends.

    It is forked, so it should be made while there is one thread: `work` may use no lock that another thread could
    hold. Raises OSError.
    """

    def __init__(self, work: Callable[[bytes], bytes]) -> None:
        requests, self._requests = Pipe(duplex=False)
        self._results, results = Pipe(duplex=False)
        self._pid = os.fork()
        _in_parent.update((self._requests, self._results))
        if self._pid == 0:
            _serve(work, requests, results)
        requests.close()
        results.close()
        self._is_busy = False
        self.is_usable = True

    def ask(self, request: bytes, seconds: float) -> bytes:
        """Return what the work makes of a request. Raises ProcessLost; then it can only be closed."""
        self._is_busy, is_done = True, False
        try:
            self._requests.send_bytes(request)
            if not self._results.poll(seconds):
                os.kill(self._pid, signal.SIGKILL)
                raise ProcessLost("it took too long")
            result = self._results.recv_bytes()
            is_done = True
        except (OSError, EOFError):
            raise ProcessLost("it ended before its work was done") from None
        finally:
            self._is_busy = False
            self.is_usable = is_done
        return result

    def close(self) -> None:
        """Let it end, after what it is at; wait for it unless it is at work for another thread."""
        if self._requests.closed:
            return
        self.is_usable = False
        for pipe in (self._requests,) if self._is_busy else (self._requests, self._results):
            _in_parent.discard(pipe)
            pipe.close()
        if not self._is_busy:
            with suppress(ChildProcessError):
                os.waitpid(self._pid, 0)


def _serve(work: Callable[[bytes], bytes], requests: Connection, results: Connection) -> None:
    """Answer requests until there is nobody to ask, and end without touching what belongs to the parent."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        os.setsid()
        for pipe in _in_parent:
            pipe.close()
        with suppress(EOFError):
            while True:
                results.send_bytes(work(requests.recv_bytes()))
    finally:
        os._exit(0)


EXCERPT = 1 << 16
SECONDS = 60.0
"""How long parsing and writing may take beyond the exchange."""


class Fetched(msgspec.Struct, frozen=True):
    """What came of a poll. `path` is where the messages are; `data` are those that could not be written, and why.

    `blocked` are key, sender and beginning of what the address filter turned away; `rest` could not be read.
    """

    status: int
    fault: str = ""
    retry_after: str = ""
    body: bytes = b""
    """The answer's beginning, if it isn't a list of messages."""

    is_batch: bool = False
    path: str = ""
    data: bytes = b""
    errno: int = 0
    strerror: str = ""
    blocked: tuple[tuple[str, str, bytes], ...] = ()
    rest: bytes = b""
    down: tuple[str, str] | None = None

    @property
    def answer(self) -> RelayAnswer:
        return RelayAnswer(self.status, self.body, self.fault, self.retry_after)


class RelayFetcher:
    """Asks a relay for an agent's messages, in a process that writes what it has got even if this one is killed.

    `poll` gets the token. The process is made by `start`, or when it is first needed and after it has died.
    """

    def __init__(self, poll: Callable[[str], RelayAnswer], agent: str) -> None:
        self._poll = poll
        self._agent = agent
        self._receiver: Receiver | None = None
        self._process: OutlivingProcess | None = None

    def start(self, receiver: Receiver) -> None:
        """Fork the process: best before there are threads. Raises OSError."""
        self.close()
        self._receiver = receiver
        self._process = OutlivingProcess(lambda token: self._work(token, receiver))

    def fetched(self, receiver: Receiver, token: str, seconds: float) -> Fetched:
        """Return what came of a poll; `seconds` is how long the exchange may take. Raises TransportDown."""
        try:
            if self._process is None or not self._process.is_usable or self._receiver is not receiver:
                self.start(receiver)
            assert self._process is not None
            result = self._process.ask(token.encode(), seconds + SECONDS)
        except ProcessLost as error:
            raise TransportDown(
                f"the process that asks the relay failed ({error})", "it is tried again", "E594"
            ) from None
        fetched = from_json(result.decode(), Fetched)
        if fetched.down is not None:
            raise TransportDown(*fetched.down)
        return fetched

    def _work(self, token: bytes, receiver: Receiver) -> bytes:
        try:
            fetched = _written(self._poll(token.decode()), self._agent, receiver)
        except TransportDown as error:
            fetched = Fetched(0, down=(error.problem, error.remedy))
        return as_json(fetched).encode()

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


def _written(answer: RelayAnswer, agent: str, receiver: Receiver) -> Fetched:
    """Write the messages of an answer, without those that the filter turns away."""
    batch = batch_of(answer.body) if answer.status == 200 else None
    if batch is None:
        return Fetched(answer.status, answer.fault, answer.retry_after, answer.body[:EXCERPT])
    is_ours = batch.agent == "" or agent_of(batch.agent) == agent
    blocked = [message for message in batch.messages if is_ours and not receiver.admits(sender_of(message))]
    admitted = [message for message in batch.messages if message not in blocked] if blocked else batch.messages
    is_as_it_came = not blocked and not answer.fault and not batch.rest
    data = answer.body if is_as_it_came else encoded(Batch(batch.agent, admitted))
    fetched = Fetched(
        answer.status,
        answer.fault,
        is_batch=True,
        blocked=tuple((message_key(each), sender_of(each), excerpt_of(each)) for each in blocked),
        rest=batch.rest[:EXCERPT],
    )
    if not admitted and is_ours:
        return fetched
    try:
        return msgspec.structs.replace(fetched, path=str(receiver.spool(data)))
    except OSError as error:
        # the only copy
        return msgspec.structs.replace(
            fetched, data=data, errno=error.errno or 5, strerror=error.strerror or str(error)
        )
