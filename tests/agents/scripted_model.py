"""A model server on loopback that says what a script tells it to, and keeps what it was asked.

    with ScriptedModel(call("Bash", command="signalbox check"), say("done")) as model:
        ...                              # a program runs with model.url as its base URL
    assert model.requests[1].find("the message")[0].kind == "tool_result"

A step may be a function of the request: what a model would take from what it has read.
Requests without tools (titles, summaries) get "ok" and take no step. When the script is at its end the answer is "ok".
"""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from types import TracebackType
from typing import Any, Self

from tests.agents.dialects import Dialect, Step, dialect_of
from tests.agents.model_requests import ModelRequest
from tests.patience import PATIENCE

Planned = Step | Callable[[ModelRequest], Step]
LONGEST = 32 << 20
MOST_REQUESTS = 500
SILENCE = 120.0
"""Seconds after which a connection that says nothing is closed."""


class ScriptedModel:
    """Serves until the `with` block ends, which raises what a step's `before` raised."""

    def __init__(self, *steps: Planned) -> None:
        self._steps = list(steps)
        self._requests: list[ModelRequest] = []
        self._failures: list[Exception] = []
        self._changed = Condition()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), name="scripted-model", daemon=True)

    @property
    def url(self) -> str:
        """Return the base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[ModelRequest]:
        """Return the requests of conversations so far, in order."""
        with self._changed:
            return [request for request in self._requests if request.has_tools]

    @property
    def all_requests(self) -> list[ModelRequest]:
        """Return every request so far, also for titles and summaries."""
        with self._changed:
            return list(self._requests)

    @property
    def steps_left(self) -> int:
        """Return how many steps of the script nobody has taken."""
        with self._changed:
            return len(self._steps)

    def then(self, *steps: Planned) -> None:
        """Add to the script."""
        with self._changed:
            self._steps += steps

    def wait_for(self, what: str | Callable[[list[ModelRequest]], bool], timeout: float = PATIENCE) -> ModelRequest:
        """Wait for a request that holds a text, or until a function of the requests is true; return the last one."""

        def found() -> ModelRequest | None:
            requests = [request for request in self._requests if request.has_tools]
            if callable(what):
                return requests[-1] if requests and what(requests) else None
            return next((request for request in requests if request.holds(what)), None)

        with self._changed:
            if request := self._changed.wait_for(found, timeout):
                return request
        raise AssertionError(f"not asked within {timeout:g} s: {what!r}; {len(self.requests)} requests")

    def wait_count(self, count: int, timeout: float = PATIENCE) -> ModelRequest:
        """Wait until a conversation was asked that often; return that request."""
        self.wait_for(lambda requests: len(requests) >= count, timeout)
        return self.requests[count - 1]

    def asked(self, path: str, body: dict[str, Any], raw: str) -> tuple[Step, int]:
        """Note a request, and return the step that answers it and its number."""
        with self._changed:
            request = ModelRequest(len(self._requests) + 1, path, body)
            if request.number > MOST_REQUESTS:
                return Step(status=400), request.number
            self._requests.append(request)
            self._changed.notify_all()
            suits = (one for one in self._steps if callable(one) or one.when in raw)
            planned = next(suits, None) if request.has_tools else None
            if planned is None:
                return Step(says="ok"), request.number
            self._steps.remove(planned)
        try:
            step = planned(request) if callable(planned) else planned
            if step.before:
                step.before()
        except Exception as error:  # on the server's thread: raised where the test is
            self._failures.append(error)
            return Step(status=400), request.number
        return step, request.number

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if self._failures:
            raise self._failures[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    model: ScriptedModel

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a program that was ended while it was being answered."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SILENCE
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet."""

    def do_HEAD(self) -> None:
        self._answer(b"", "application/json")

    def do_GET(self) -> None:
        self._answer(b'{"data": [], "models": [], "object": "list"}', "application/json")

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > LONGEST:
            self._answer(b"{}", "application/json", 413)
            return
        raw = self.rfile.read(length).decode()
        dialect = dialect_of(self.path)
        if dialect is None:
            self._answer(b'{"input_tokens": 10, "totalTokens": 10}', "application/json")
            return
        body = json.loads(raw)
        step, number = self.server.model.asked(self.path, body, raw)
        if step.status != 200:
            self._answer(b'{"error": {"type": "api_error", "message": "scripted"}}', "application/json", step.status)
        elif ":generateContent" in self.path or ("/messages" in self.path and not body.get("stream")):
            self._answer(json.dumps(_whole(dialect, step, number)).encode(), "application/json")
        else:
            self._answer(_stream(dialect, step, number, self.path).encode(), "text/event-stream")

    def _answer(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _whole(dialect: Dialect, step: Step, number: int) -> dict[str, Any]:
    """Return an answer that is not streamed; only texts are asked for so."""
    _, first = next(dialect(step, number))
    if "message" not in first:
        return first
    text = {"type": "text", "text": step.says or "ok"}
    return {**first["message"], "content": [text], "stop_reason": "end_turn"}


def _stream(dialect: Dialect, step: Step, number: int, path: str) -> str:
    lines = []
    for name, data in dialect(step, number):
        if name:
            lines.append(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n")
        else:
            lines.append(f"data: {json.dumps(data)}\n\n")
    if "/completions" in path:
        lines.append("data: [DONE]\n\n")
    return "".join(lines)
