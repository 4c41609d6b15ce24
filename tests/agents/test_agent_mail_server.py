"""MCP Agent Mail's own server, a program of its own, as the other side of what is sent through its tools.

It is looked for in `.venv/agent-mail`: make a venv there, and `pip install mcp-agent-mail` in it.
"""

from __future__ import annotations

import os
import subprocess
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic

import pytest

from mailstore.conformance.following import scanned
from mailstore.errors import DraftRefused, StoreError
from mailstore.kinds.agent_mail.server.access import server_access
from mailstore.kinds.agent_mail.server.tools import ToolCalls, with_tools
from mailstore.kinds.agent_mail.store import AgentMailStore
from mailstore.records.draft import Draft, draft
from mailstore.records.message import Message, Receipt
from tests.project.import_graph import ROOT
from tests.servers.agentazall_programs import free_port

pytestmark = pytest.mark.agents

PYTHON = ROOT / ".venv" / "agent-mail" / "bin" / "python"
START_SECONDS = 60.0
TOKEN = "sesame"
PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")


class RealServer:
    """The server in a folder of its own; `url` is its endpoint."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/mcp/"
        settings = {
            "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/storage.sqlite3",
            "STORAGE_ROOT": str(folder / "archive"),
            "HTTP_BEARER_TOKEN": TOKEN,
            "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED": "false",
            "HTTP_RBAC_DEFAULT_ROLE": "writer",
            "LLM_ENABLED": "false",
            "TOOLS_LOG_ENABLED": "false",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
            **env,
        }
        self.process = subprocess.Popen(
            [PYTHON, "-m", "mcp_agent_mail.http", "--host", "127.0.0.1", "--port", str(port)],
            cwd=folder, env=settings, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveness", timeout=5).close()
                return
            except (urllib.error.URLError, OSError):
                assert monotonic() < deadline, "the server does not start"
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(0.2)
                    pytest.fail("the server ended")

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    if not PYTHON.exists():
        pytest.skip("mcp-agent-mail is not installed in .venv/agent-mail")
    server = RealServer(tmp_path_factory.mktemp("agent-mail"), PATH=os.environ["PATH"] + ":/usr/bin:/bin")
    yield server
    server.close()


@pytest.fixture
def store(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentMailStore]:
    """Its database, with two agents that the server itself has registered, and one in another project."""
    monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_URL", server.url)
    monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_TOKEN", TOKEN)

    async def register(tools: ToolCalls) -> None:
        for project, name in (("/srv/backend", "GreenLake"), ("/srv/backend", "BlueDog"), ("/srv/site", "RedFox")):
            await tools.ask("register_agent", project_key=project, program="codex", model="gpt", name=name)

    access = server_access().server
    assert access is not None
    with_tools(access, register)
    with AgentMailStore.open(server.folder) as store:
        yield store


def item(*to: str, **fields: object) -> Draft:
    return draft(**{"sender": "user", "recipients": tuple(f"{name}@srv-backend" for name in to), **fields})


def test_it_takes_what_is_sent_answered_marked_and_acknowledged(store: AgentMailStore, server: RealServer) -> None:
    text = "Two lines,\n  **bold**, 日本."
    sent = store.send(item("GreenLake", "BlueDog", subject="News", content=text))
    assert (sent.sender, sent.subject, store.content(sent)) == ("user", "News", text)
    asked = store.send(item("BlueDog", sender="GreenLake@srv-backend", subject="Which?", content="main?"))
    to_me = store.send(
        draft(sender="GreenLake@srv-backend", recipients=("user",), subject="And you?", content="?", thread=asked.id)
    )
    answer = store.send(item("GreenLake", subject="Re: And you?", content="Yes.", thread=to_me.id))
    assert (answer.thread, answer.subject) == (asked.id, "Re: And you?")
    assert store.mark_read("user", [to_me.id]) == store.acknowledge("user", [to_me.id]) == 1
    events = scanned(store)
    assert {message.id for message in events if isinstance(message, Message)} >= {sent.id, asked.id, answer.id}
    assert ("user", to_me.id) in {(one.reader, one.message_id) for one in events if isinstance(one, Receipt)}
    archived = [path.read_text("utf-8") for path in (server.folder / "archive").rglob("messages/20*/*/*.md")]
    assert any(text in each for each in archived), "the server keeps its archive in step"


def test_whom_it_would_make_up_and_whom_it_knows_once_are_refused(store: AgentMailStore) -> None:
    with pytest.raises(DraftRefused, match='unknown agent "GreenLak": did you mean GreenLake'):
        store.send(item("GreenLak", content="Hello."))
    store.send(item("GreenLake", content="Hello."))
    with pytest.raises(StoreError, match="HumanOverseer is registered in srv-backend, and this server knows each name"):
        store.send(draft(sender="user", recipients=("RedFox@srv-site",), content="Hello."))


def test_an_image_is_sent_and_no_path_in_a_text_attaches_one(store: AgentMailStore, tmp_path: Path) -> None:
    image = tmp_path / "a picture.png"
    image.write_bytes(PNG)
    asked = store.send(item("GreenLake", subject="Look", content="See.", attachments=(str(image),)))
    answer = store.send(item("GreenLake", content="Again.", thread=asked.id, attachments=(str(image),)))
    assert (answer.thread, answer.subject) == (asked.id, "Re: Look")
    for sent in (asked, answer):
        [file] = store.attachments(sent)
        with store.open_attachment(sent, file.name) as there:
            assert there.read(4) == b"RIFF"
    text = f"Quoted: ![private]({image})"
    for thread in (None, asked.id):
        sent = store.send(item("GreenLake", subject="", content=text, thread=thread))
        assert (store.content(sent), store.attachments(sent)) == (text, [])


def test_a_wrong_token_is_told(store: AgentMailStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNALBOX_AGENT_MAIL_TOKEN", "wrong")
    with pytest.raises(StoreError, match="refuses the token: check the secret that"):
        store.send(item("GreenLake", content="Hello."))


def test_a_token_that_may_only_read_is_told(tmp_path: Path, store: AgentMailStore, server: RealServer) -> None:
    reading = RealServer(
        tmp_path,
        HTTP_RBAC_DEFAULT_ROLE="reader",
        DATABASE_URL=f"sqlite+aiosqlite:///{server.folder}/storage.sqlite3",
        PATH=os.environ["PATH"] + ":/usr/bin:/bin",
    )
    try:
        with pytest.MonkeyPatch.context() as patch, AgentMailStore.open(server.folder) as other:
            patch.setenv("SIGNALBOX_AGENT_MAIL_URL", reading.url)
            with pytest.raises(StoreError, match=r"lets this token only read: give it a role .*HTTP_RBAC_DEFAULT_ROLE"):
                other.send(item("GreenLake", content="Hello."))
    finally:
        reading.close()
