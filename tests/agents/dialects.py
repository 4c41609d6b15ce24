"""What a model server streams, in the four dialects that agents' programs speak: a step of the script as events."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Event = tuple[str, dict[str, Any]]
Dialect = Callable[["Step", int], Iterator[Event]]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that the model wants run."""

    tool: str
    arguments: Mapping[str, Any]
    namespace: str = ""
    """Codex's tools for subagents have one."""


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model; without calls it ends the turn.

    `when` is a text that the request must hold, `before` is done before the answer is sent, `status` is an HTTP error.
    """

    says: str = ""
    calls: tuple[Call, ...] = ()
    when: str = ""
    before: Callable[[], object] | None = field(default=None, compare=False)
    status: int = 200
    tokens: int = 10


def say(text: str, **more: Any) -> Step:
    """Return the step that ends the turn with a text."""
    return Step(says=text, **more)


def call(tool: str, when: str = "", before: Callable[[], object] | None = None, **arguments: Any) -> Step:
    """Return the step that calls one tool."""
    return Step(calls=(Call(tool, arguments),), when=when, before=before)


def _anthropic(step: Step, number: int) -> Iterator[Event]:
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
    if step.says:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": step.says}))
    for at, one in enumerate(step.calls):
        start = {"type": "tool_use", "id": f"toolu_{number:03d}{at}", "name": one.tool, "input": {}}
        blocks.append((start, {"type": "input_json_delta", "partial_json": json.dumps(one.arguments)}))
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    usage = {"input_tokens": step.tokens, "output_tokens": 5}
    yield "message_start", {"message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    for at, (start, delta) in enumerate(blocks):
        yield "content_block_start", {"index": at, "content_block": start}
        yield "content_block_delta", {"index": at, "delta": delta}
        yield "content_block_stop", {"index": at}
    end = {"stop_reason": "tool_use" if step.calls else "end_turn", "stop_sequence": None}
    yield "message_delta", {"delta": end, "usage": {"output_tokens": 5}}
    yield "message_stop", {}


def _responses(step: Step, number: int) -> Iterator[Event]:
    head = {"id": f"resp_{number}", "object": "response", "created_at": int(time.time()), "model": "scripted"}
    yield "response.created", {"response": {**head, "output": [], "status": "in_progress"}}
    items: list[dict[str, Any]] = []
    if step.says:
        text = {"type": "output_text", "text": step.says, "annotations": []}
        items.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [text]})
    for at, one in enumerate(step.calls):
        ids = {"id": f"fc_{number}{at}", "call_id": f"call_{number}{at}", "name": one.tool}
        if one.namespace:
            ids["namespace"] = one.namespace
        items.append({"type": "function_call", **ids, "arguments": json.dumps(one.arguments)})
    for at, item in enumerate(items):
        item["status"] = "completed"
        yield "response.output_item.added", {"output_index": at, "item": item}
        if item["type"] == "message":
            delta = {"output_index": at, "item_id": item["id"], "delta": step.says}
            yield "response.output_text.delta", delta
        yield "response.output_item.done", {"output_index": at, "item": item}
    usage: dict[str, Any] = {"input_tokens": step.tokens, "output_tokens": 5, "total_tokens": step.tokens + 5}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    yield "response.completed", {"response": {**head, "status": "completed", "output": items, "usage": usage}}


def _chat(step: Step, number: int) -> Iterator[Event]:
    head = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": int(time.time()), "model": "scripted"}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> Event:
        return "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": step.says})
    for at, one in enumerate(step.calls):
        function = {"name": one.tool, "arguments": json.dumps(one.arguments)}
        tool = {"index": at, "id": f"call_{number}{at}", "type": "function", "function": function}
        yield chunk({"tool_calls": [tool]})
    yield chunk({}, "tool_calls" if step.calls else "stop")
    usage = {"prompt_tokens": step.tokens, "completion_tokens": 5, "total_tokens": step.tokens + 5}
    yield "", {**head, "choices": [], "usage": usage}


def _gemini(step: Step, number: int) -> Iterator[Event]:
    parts: list[dict[str, Any]] = [{"text": step.says}] if step.says else []
    parts += [{"functionCall": {"name": one.tool, "args": one.arguments}} for one in step.calls]
    usage = {"promptTokenCount": step.tokens, "candidatesTokenCount": 5, "totalTokenCount": step.tokens + 5}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    yield "", {"candidates": [candidate], "usageMetadata": usage, "modelVersion": f"scripted-{number}"}


def dialect_of(path: str) -> Dialect | None:
    """Tell the dialect from the path of a request; None for one that asks for no answer of the model."""
    if "count_tokens" in path or "countTokens" in path:
        return None
    kinds = {"/messages": _anthropic, "/responses": _responses, "/completions": _chat, "enerateContent": _gemini}
    return next((dialect for part, dialect in kinds.items() if part in path), None)
