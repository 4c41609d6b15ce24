"""What a line of a transcript says that a session has used: its model, its context, tokens, and cost."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mailstore.kit.sessions.usage import Used
from mailstore.kit.timestamps import time_of
from mailstore.kit.transcripts.transcript import UNREADABLE

MARKS = (b'"usage":{', b'"type":"cost-state"')


class _Tokens(msgspec.Struct, gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class _Answer(msgspec.Struct, gc=False):
    id: str = ""
    model: str = ""
    usage: _Tokens | None = None


class _Line(msgspec.Struct, gc=False):
    type: str
    timestamp: str = ""
    message: _Answer | None = None
    cost: float | None = msgspec.field(default=None, name="totalCostUSD")


LINE = msgspec.json.Decoder(_Line)


def used_in(data: bytes) -> Iterator[Used]:
    """Yield what a line says was used: of the lines of an answer, which share an id, the last counts.

    The program says what a session has cost when it ends.
    """
    try:
        line = LINE.decode(data)
    except UNREADABLE:
        return
    answer = line.message
    if line.type == "cost-state":
        yield Used("cost", None, cost=line.cost, is_answer=False)
    elif line.type == "assistant" and answer is not None and answer.usage is not None:
        tokens = answer.usage
        given = tokens.input_tokens + tokens.cache_creation_input_tokens + tokens.cache_read_input_tokens
        yield Used(answer.id, time_of(line.timestamp), given, tokens.output_tokens, given, model=answer.model)
