"""Codex with a scripted model: `codex exec`, at a terminal, and its app server, which knows what hooks are trusted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.agents.dialects import Call, Step, call
from tests.agents.lab import Finished, Lab
from tests.agents.programs import program_named
from tests.agents.scripted_model import ScriptedModel
from tests.terminal import Terminal

CODEX = program_named("codex")
UNREVIEWED = "--dangerously-bypass-hook-trust"
"""Runs hooks that nobody has reviewed."""
ANYWHERE = ("-s", "danger-full-access")
PROVIDER = """\
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[tui]
notifications = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
"""


def shell(command: str, when: str = "", before: Callable[[], object] | None = None) -> Step:
    """Return the step in which the model runs a command."""
    return call("exec_command", when, before, cmd=command)


def spawn(prompt: str) -> Step:
    """Return the step in which the model has a subagent do something."""
    return Step(calls=(Call("spawn_agent", {"message": prompt}, namespace="multi_agent_v1"),))


def configure(lab: Lab, model: ScriptedModel, *more: str, trusted: Iterable[Path] = ()) -> None:
    """Write the person's settings: the model, and the folders that are trusted beside the repository."""
    folders = [f'[projects."{folder}"]\ntrust_level = "trusted"\n' for folder in (lab.repository, *trusted)]
    folder = lab.home / ".codex"
    folder.mkdir(exist_ok=True)
    profile = f'PATH="{lab.environment()["PATH"]}"\n'  # its shell is a login shell
    (lab.home / ".profile").write_text(profile, "utf-8")
    (folder / "config.toml").write_text("\n".join([PROVIDER.format(url=model.url), *more, *folders]), "utf-8")


def execute(
    lab: Lab, *words: str, trust: tuple[str, ...] = (UNREVIEWED,), sandbox: tuple[str, ...] = ANYWHERE, **how: Any
) -> Finished:
    """Run `codex exec` to its end; it must succeed."""
    done = lab.run([str(CODEX.path), "exec", "--skip-git-repo-check", *sandbox, *trust, *words], **how)
    assert done.status == 0, done
    return done


def at_terminal(lab: Lab, *words: str, trust: tuple[str, ...] = (UNREVIEWED,), **how: Any) -> Terminal:
    """Start it at a terminal, in a folder that is trusted; return when it takes a prompt."""
    terminal = lab.terminal([str(CODEX.path), *ANYWHERE, "-a", "never", *trust, *words], **how)
    terminal.wait_for("›")
    return terminal


def listed_hooks(lab: Lab, cwd: Path | None = None) -> list[dict[str, Any]]:
    """Return what the app server says of the hooks that count in a folder."""
    folder = str(cwd or lab.repository)
    ask = [
        {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}},
        {"method": "initialized"},
        {"id": 1, "method": "hooks/list", "params": {"cwds": [folder]}},
    ]
    server = lab.start([str(CODEX.path), "app-server"])
    assert server.stdin
    assert server.stdout
    server.stdin.write("".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in ask))
    server.stdin.flush()
    answers = (json.loads(line) for line in server.stdout)
    found: list[dict[str, Any]] = next(one for one in answers if one.get("id") == 1)["result"]["data"][0]["hooks"]
    server.kill()
    server.wait()
    return found


def review(lab: Lab) -> None:
    """Trust the hooks of the repository as they are now, as a person does in `/hooks`."""
    path = lab.home / ".codex" / "config.toml"
    states = [f'[hooks.state."{one["key"]}"]\ntrusted_hash = "{one["currentHash"]}"\n' for one in listed_hooks(lab)]
    path.write_text(path.read_text("utf-8") + "\n".join(states), "utf-8")
