"""`signalbox mcp`: the protocol's own client drives the server as a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp
import mcp_types
import pytest
from mcp.client.stdio import stdio_client
from platformdirs import user_config_path

from console.cli.loading import Loaded
from console.mcp.server import _schema, served
from console.mcp.tools import TOOLS, Caller, SendMessage, send_message
from mailstore.errors import DraftRefused
from mailstore.folding import fold_store
from mailstore.installation import remedy
from mailstore.records.draft import draft
from mailstore.registry import open_store
from tests.cli.conftest import ROOT, Run
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail
from tests.kinds.channels.channels_folder import SharedFolder
from tests.mailboxes import MailFiles
from tests.patience import PATIENCE
from tests.unfetched import give_no_text_of

ANN, BOB, CID = "ann-00000001", "bob-00000001", "cid-00000001"
INBOX = "mailbox://inbox"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN, role="clerk")
    mail.agent(BOB)
    mail.message("one", BOB, ANN, "First.", ago=90, type="question")
    mail.message("two", BOB, "clerk", "Second.", ago=60, thread="one")
    mail.message("theirs", ANN, BOB, "Not for me.", ago=50)
    return mail


def parameters(mail: MailFiles) -> mcp.StdioServerParameters:
    words = ["-m", "console", "mcp", "--as", ANN, "--store", mail.url]
    env = {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    return mcp.StdioServerParameters(command=sys.executable, args=words, env=env, cwd=ROOT)


def client(mail: MailFiles, **more: Any) -> Any:
    """Return a client of a server for one agent."""
    return mcp.Client(parameters(mail), read_timeout_seconds=PATIENCE, **more)


@asynccontextmanager
async def client_within(mail: MailFiles, **more: Any) -> AsyncIterator[Any]:
    """Return a client of a server for one agent in this process, where the protocol is tested and not the command."""
    with open_store(mail.url) as store:
        now = time.time()
        caller = Caller(Loaded(store, fold_store(store, "user", now), now), ANN, 60.0)
        async with served(caller) as server, mcp.Client(server, read_timeout_seconds=PATIENCE, **more) as session:
            yield session


async def called(session: Any, name: str, **arguments: Any) -> Any:
    result = await session.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def refused(session: Any, name: str, **arguments: Any) -> str:
    result = await session.call_tool(name, arguments)
    assert result.is_error
    return str(result.content[0].text)


async def test_an_agent_reads_answers_and_marks_over_the_protocol(mail: MailFiles) -> None:
    mail.agent(CID)
    mail.message("task", ANN, BOB, ago=40, type="task-assigned")
    mail.message("part", BOB, CID, ago=30, type="task-assigned", thread="task")
    async with asyncio.timeout(PATIENCE), client(mail) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert tools.keys() == {"read_messages", "send_message", "mark_read", "who", "thread"}
        fields = tools["read_messages"].input_schema["properties"]
        assert fields.keys() == {"to", "since", "unreadOnly", "limit", "maxChars"}
        found = await called(session, "read_messages")
        assert [message["id"] for message in found["messages"]] == ["one", "two"]
        assert (found["messages"][0]["content"], found["left_out"]) == ("First.", 0)
        assert (await called(session, "read_messages", limit=1))["left_out"] == 1
        theirs = await called(session, "read_messages", to=BOB, unreadOnly=False)
        assert [message["id"] for message in theirs["messages"]] == ["theirs", "task"]
        assert await called(session, "mark_read", messageIds=["one"]) == {"marked": 1}
        resource = json.loads((await session.read_resource(INBOX)).contents[0].text)
        assert resource == {"unread": 1, "ids": ["two"]}
        words = {"type": "answer", "to": BOB, "body": "Yes.", "issueId": "7", "inReplyTo": "one"}
        sent = await called(session, "send_message", **words)
        record = json.loads(mail.mailbox.read_bytes().splitlines()[-1])
        assert (record["id"], record["sender"], record["thread"]) == (sent["id"], ANN, "one")
        assert record["metadata"] == {"issueId": "7"}
        words = {"type": "cancel", "to": BOB, "body": "Stop.", "inReplyTo": "task"}
        assert (await called(session, "send_message", **words))["recipients"] == [BOB, CID], "who works on a part, too"
        tree = await called(session, "thread", messageId="two")
        assert [message["id"] for message in tree["messages"]][:2] == ["one", "two"]
        assert {row["session_id"] for row in (await called(session, "who"))["agents"]} == {ANN, BOB, CID}
        assert (await called(session, "mark_read", all=True))["marked"] == 1
        assert "unknown kind of address" in await refused(session, "send_message", type="x", to="signal:+3", body="x")
        assert "body: field required" in await refused(session, "send_message", type="x", to=BOB)
        assert "needs either messageIds or all" in await refused(session, "mark_read")
        assert 'no message with id "zzz"' in await refused(session, "thread", messageId="zzz")
        assert 'unknown tool "nothing"' in await refused(session, "nothing")


async def test_no_more_is_handed_out_than_a_model_sees_and_no_more_is_recorded(mail: MailFiles) -> None:
    for number in range(11):
        mail.message(f"n{number:02}", BOB, ANN, "word " * 200, ago=40 - number)
    mail.message("big", BOB, ANN, "y" * 9000, ago=20)
    async with asyncio.timeout(PATIENCE), client_within(mail) as session:
        first = await called(session, "read_messages")
        ids = [message["id"] for message in first["messages"]]
        assert ids[:3] == ["one", "two", "n00"]
        assert sum(len(message["content"]) for message in first["messages"]) < 8000
        assert first["left_out"] == 14 - len(ids)
        assert await called(session, "mark_read", all=True) == {"marked": len(ids), "left_unread": 14 - len(ids)}
        second = await called(session, "read_messages")
        assert [message["id"] for message in second["messages"]] == [
            f"n{number:02}" for number in range(len(ids) - 2, 11)
        ]
        assert second["too_long"]["id"] == "big"
        newest = await called(session, "read_messages", unreadOnly=False, limit=2)
        assert [message["id"] for message in newest["messages"]] == ["n10"]
        assert newest["too_long"]["id"] == "big"
        whole = await called(session, "read_messages", maxChars=0)
        assert "big" in [message["id"] for message in whole["messages"]]
        assert (await called(session, "mark_read", all=True))["left_unread"] == 0
    recorded = [json.loads(line)["message_id"] for line in mail.reads.read_bytes().splitlines()]
    assert len(recorded) == len(set(recorded)) == 14


async def test_read_messages_counts_records_that_can_not_be_read(mail: MailFiles) -> None:
    async with client_within(mail) as session:
        assert "unreadable" not in await called(session, "read_messages")
    with mail.mailbox.open("a") as file:
        file.write('{"id": "torn", "to": ["\n')
    async with client_within(mail) as session:
        found = await called(session, "read_messages")
        assert found["unreadable"] == {"records": 1, "how": "signalbox doctor says which and why"}


async def test_a_message_whose_text_can_not_be_read_is_not_handed_out(
    mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_again = give_no_text_of(monkeypatch, "two")
    async with asyncio.timeout(PATIENCE), client_within(mail) as session:
        found = await called(session, "read_messages")
        assert [message["id"] for message in found["messages"]] == ["one"]
        assert found["left_out"] == 1
        assert found["unreadable_now"] == {"messages": 1, "how": "they stay unread: ask again later"}
        tree = await called(session, "thread", messageId="one")
        assert [message["content"] for message in tree["messages"]] == ["First.", ""]
        assert tree["unreadable_now"]["messages"] == 1
        assert await called(session, "mark_read", all=True) == {"marked": 1, "left_unread": 1}
        answer_again()
        assert [message["id"] for message in (await called(session, "read_messages"))["messages"]] == ["two"]
        assert "unreadable_now" not in await called(session, "thread", messageId="one")
        assert await called(session, "mark_read", all=True) == {"marked": 1, "left_unread": 0}


async def test_a_message_is_asked_for_what_its_mailbox_can_hold(tmp_path: Path, mail: MailFiles) -> None:
    azall = AgentAZAllMail(tmp_path / "azall")
    azall.agent("ann@localhost")
    asked = {}
    for url in (mail.url, f"agentazall:{azall.root}"):
        with open_store(url) as store:
            caller = Caller(Loaded(store, fold_store(store, "user", 0.0), 0.0), "user", 60.0)
            schema = _schema(TOOLS["send_message"], caller)
            asked[store.kind] = set(schema["properties"]), set(schema["required"])
            if store.kind == "agentazall":
                assert (await send_message(caller, SendMessage(to="ann@localhost", body="Hello.")))["id"]
    every = {"type", "to", "body", "subject", "metadata", "issueId", "options", "inReplyTo"}
    assert asked["haak"] == (every, {"type", "to", "body"})
    assert asked["agentazall"] == (every - {"type", "metadata", "issueId", "options"}, {"to", "body"})


async def test_whom_a_message_reaches_is_told_as_it_was_sent(tmp_path: Path) -> None:
    shared = SharedFolder(tmp_path)
    shared.record("sessions/ink.json", id="ink", agents=["claude", "codex", "gemini"])
    with open_store(f"channels:{shared.root}") as store:
        caller = Caller(Loaded(store, fold_store(store, "user", 0.0), 0.0), "claude", 60.0)
        for to, reached in (("codex,project:ink", ["codex"]), ("project:ink", ["codex", "gemini"])):
            sent = await send_message(caller, SendMessage(type="chat", to=to, body="Hello."))
            assert sorted(sent["reaches"]) == reached


async def test_the_doorbell_rings_when_mail_comes_for_the_agent(mail: MailFiles) -> None:
    async with asyncio.timeout(PATIENCE), client_within(mail) as session:
        async with session.listen(resource_subscriptions=[INBOX], resources_list_changed=True) as bell:
            rings = aiter(bell)
            mail.message("other", ANN, BOB, ago=0)
            mail.message("new", BOB, ANN, "New.", ago=0)
            events = {type(await anext(rings)).__name__, type(await anext(rings)).__name__}
        assert events == {"ResourceUpdated", "ResourcesListChanged"}
        assert json.loads((await session.read_resource(INBOX)).contents[0].text)["ids"][-1] == "new"


async def test_an_older_client_is_rung_for_too(mail: MailFiles) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: Any) -> None:
        heard.put_nowait(str(getattr(message, "method", "")))

    async with asyncio.timeout(PATIENCE), client_within(mail, mode="legacy", message_handler=hear) as session:
        with pytest.warns(Warning, match="resources/subscribe"):
            await session.subscribe_resource(INBOX)
        mail.message("new", BOB, ANN, "New.", ago=0)
        methods = {await heard.get(), await heard.get()}
    assert methods == {"notifications/resources/updated", "notifications/resources/list_changed"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_a_client_asks_first_is_answered(mail: MailFiles, tmp_path: Path, mode: Any) -> None:
    log = tmp_path / "err.txt"
    with log.open("w") as errors:
        transport = stdio_client(parameters(mail), errlog=errors)
        async with asyncio.timeout(PATIENCE), mcp.Client(transport, mode=mode) as session:
            resources = session.server_capabilities.resources
            assert resources is not None
            assert resources.list_changed
            assert resources.subscribe
            assert (await session.list_resource_templates()).resource_templates == []
            with pytest.raises(mcp.MCPError, match="unknown resource mailbox://else: read mailbox://inbox") as caught:
                await session.read_resource("mailbox://else")
    assert (caught.value.code, caught.value.data) == (mcp_types.INVALID_PARAMS, {"uri": "mailbox://else"})
    assert log.read_text() == ""


async def test_options_of_a_question_stand_in_its_record_and_the_choice_comes_back_as_data(mail: MailFiles) -> None:
    async with asyncio.timeout(PATIENCE), client(mail) as session:
        words = {"type": "question", "to": "user", "body": "Print it?"}
        sent = await called(session, "send_message", options=["Yes", " No "], **words)
        assert json.loads(mail.mailbox.read_bytes().splitlines()[-1])["metadata"] == {"options": ["Yes", "No"]}
        assert "two to nine short lines" in await refused(session, "send_message", options=["Yes"], **words)
        choice = {"choice": 2, "option": "No"}
        mail.message("no", "user", ANN, "2. No", ago=0, thread=sent["id"], metadata=choice)
        thread: list[dict[str, Any]] = []
        while len(thread) < 2:  # until the server has read it
            thread = (await called(session, "thread", messageId=sent["id"]))["messages"]
        assert (thread[0]["options"], thread[1]["choice"]) == (["Yes", "No"], 2)


async def test_metadata_takes_any_json(mail: MailFiles) -> None:
    metadata = {"n": 3, "big": 10**30, "share": 0.5, "is_done": True, "none": None, "parts": [1, {"deep": "ü"}]}
    async with asyncio.timeout(PATIENCE), client(mail) as session:
        words = {"type": "x", "to": BOB, "body": "x", "issueId": "7"}
        await called(session, "send_message", metadata=metadata, **words)
        assert "metadata: input should be a valid dict" in await refused(
            session, "send_message", metadata="text", **words
        )
    assert json.loads(mail.mailbox.read_bytes().splitlines()[-1])["metadata"] == {**metadata, "issueId": "7"}


def test_metadata_that_no_program_could_read_back_is_refused() -> None:
    nested: Any = []
    for _ in range(3000):
        nested = [nested]
    with pytest.raises(DraftRefused, match="metadata is nested too deeply"):
        draft(sender=ANN, recipients=(BOB,), content="x", metadata={"deep": nested})


def test_an_agent_that_nobody_knows_is_not_served(run: Run, mail: MailFiles) -> None:
    done = run("mcp", "--as", "anne-0001", "--store", mail.url)
    assert done.status == 1
    assert '"anne-0001" is not registered' in done.err


def test_what_must_be_installed_is_told(run: Run, mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.cli.mcp.find_spec", lambda name: None)
    done = run("mcp", "--as", ANN, "--store", mail.url)
    assert done.status == 1
    assert remedy("mcp") in done.err


async def test_a_policy_holds_over_the_protocol_too(mail: MailFiles) -> None:
    folder = user_config_path("signalbox")
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[policy]\nto_user = ["orchestrator"]\n')
    words = {"type": "status", "body": "Please?"}
    async with asyncio.timeout(PATIENCE), client(mail) as session:
        for to in ("Human", "role:person:x", "all"):
            assert "may not write to the user" in await refused(session, "send_message", to=to, **words)
        assert (await called(session, "send_message", to=BOB, **words))["recipients"] == [BOB]
