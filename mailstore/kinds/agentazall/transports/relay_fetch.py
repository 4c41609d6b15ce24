"""Fetch what waits on a relay and put it on the disk, in a process that does both or neither."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from mailstore.kinds.agentazall.transports.outliving import OutlivingProcess, ProcessLost
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
            raise TransportDown(f"the process that asks the relay failed ({error})", "it is tried again") from None
        fetched = msgspec.msgpack.decode(result, type=Fetched)
        if fetched.down is not None:
            raise TransportDown(*fetched.down)
        return fetched

    def _work(self, token: bytes, receiver: Receiver) -> bytes:
        try:
            fetched = _written(self._poll(token.decode()), self._agent, receiver)
        except TransportDown as error:
            fetched = Fetched(0, down=(error.problem, error.remedy))
        return msgspec.msgpack.encode(fetched)

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
