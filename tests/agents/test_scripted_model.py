"""The scripted model itself: each dialect is told from the path, and a step is taken once."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.agents.dialects import call, say
from tests.agents.scripted_model import ScriptedModel

PATHS = ["/v1/messages?beta=true", "/v1/responses", "/v1/chat/completions", "/v1beta/models/a:streamGenerateContent"]


def ask(model: ScriptedModel, path: str, **body: Any) -> str:
    connection = HTTPConnection(model.url.removeprefix("http://"), timeout=10)
    connection.request("POST", path, json.dumps(body))
    answer = connection.getresponse()
    text = f"{answer.status} {answer.read().decode()}"
    connection.close()
    return text


@pytest.mark.parametrize("path", PATHS)
def test_a_script_is_followed_in_every_dialect(path: str) -> None:
    tools = [{"name": "shell"}]
    with ScriptedModel(call("shell", command="echo hi"), say("for the other", when="other"), say("done")) as model:
        assert "ok" in ask(model, path, stream=True, text="a title, please")
        assert "echo hi" in ask(model, path, stream=True, tools=tools)
        assert "done" in ask(model, path, stream=True, tools=tools, messages=[{"role": "user", "content": "one"}])
        assert model.steps_left == 1
        assert "for the other" in ask(model, path, stream=True, tools=tools, text="other")
    assert len(model.requests) == 3
    (place,) = model.requests[1].find("one")
    assert (place.path, place.role) == ("messages.0.content", "user")


def test_what_a_step_raises_is_raised_in_the_test() -> None:
    def fail() -> None:
        raise ValueError("no message")

    model = ScriptedModel(say("never", before=fail))
    with pytest.raises(ValueError, match="no message"), model:
        assert ask(model, PATHS[0], stream=True, tools=[{}]).startswith("400")
