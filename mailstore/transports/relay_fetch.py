"""Fetch what waits on a relay and put it on the disk, in a process that does both or neither."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from mailstore.transports.outliving import ProcessLost, outliving
from mailstore.transports.relay_http import RelayAnswer
from mailstore.transports.relay_wire import Batch, agent_of, batch_of, encoded, message_key, sender_of
from mailstore.transports.transport import Receiver, TransportDown

__all__ = ["Fetched", "fetched"]

EXCERPT = 1 << 16
SECONDS = 60.0
"""How long parsing and writing may take beyond the exchange."""


class Fetched(msgspec.Struct, frozen=True):
    """What came of a poll. `path` is where the letters are; `data` are those that could not be written, and why.

    `blocked` are the keys of what the address filter turned away, and `rest` is what could not be read.
    """

    status: int
    fault: str = ""
    retry_after: str = ""
    body: bytes = b""
    """The answer's beginning, if it isn't a list of letters."""

    is_batch: bool = False
    path: str = ""
    data: bytes = b""
    errno: int = 0
    strerror: str = ""
    blocked: tuple[str, ...] = ()
    rest: bytes = b""
    down: tuple[str, str] | None = None

    @property
    def answer(self) -> RelayAnswer:
        """Return the answer's beginning."""
        return RelayAnswer(self.status, self.body, self.fault, self.retry_after)


def fetched(poll: Callable[[], RelayAnswer], agent: str, receiver: Receiver, seconds: float) -> Fetched:
    """Ask a relay for an agent's letters. Raises TransportDown; `seconds` is how long the exchange may take."""

    def work() -> bytes:
        try:
            found = _written(poll(), agent, receiver)
        except TransportDown as error:
            found = Fetched(0, down=(error.problem, error.remedy))
        return msgspec.msgpack.encode(found)

    try:
        found = msgspec.msgpack.decode(outliving(work, seconds + SECONDS), type=Fetched)
    except ProcessLost as error:
        raise TransportDown(f"the process that asks the relay failed ({error})", "it is tried again") from None
    if found.down is not None:
        raise TransportDown(*found.down)
    return found


def _written(answer: RelayAnswer, agent: str, receiver: Receiver) -> Fetched:
    """Write the letters of an answer, without those that the filter turns away."""
    batch = batch_of(answer.body) if answer.status == 200 else None
    if batch is None:
        return Fetched(answer.status, answer.fault, answer.retry_after, answer.body[:EXCERPT])
    is_ours = batch.agent == "" or agent_of(batch.agent) == agent
    blocked = [each for each in batch.messages if is_ours and not receiver.admits(sender_of(each))]
    admitted = [each for each in batch.messages if each not in blocked] if blocked else batch.messages
    is_as_it_came = not blocked and not answer.fault and not batch.rest
    data = answer.body if is_as_it_came else encoded(Batch(batch.agent, admitted))
    found = Fetched(
        answer.status,
        answer.fault,
        is_batch=True,
        blocked=tuple(map(message_key, blocked)),
        rest=batch.rest[:EXCERPT],
    )
    if not admitted and is_ours:
        return found
    try:
        return msgspec.structs.replace(found, path=str(receiver.spool(data)))
    except OSError as error:
        # the only copy
        return msgspec.structs.replace(found, data=data, errno=error.errno or 5, strerror=error.strerror or str(error))
