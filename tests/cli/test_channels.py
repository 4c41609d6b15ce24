"""Channel folders through the commands."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from mailstore.folding import fold_store
from mailstore.records.scope import url_of
from mailstore.registry import open_store
from mailstore.writing.sending import prepare, preview
from tests.cli.conftest import Run
from tests.kinds.channels.channels_folder import SharedFolder, copied, messages_in

ROOM = "project:agent-os-paper"


def test_the_threads_of_all_channels_are_listed(run: Run, tmp_path: Path) -> None:
    rows = run("threads", "--json", "--store", f"channels:{copied(tmp_path)}").document
    assert [row["subject"] for row in rows] == [
        "here is code",
        "@codex fix dual write",
        "supervisor status please",
        "Team update: Phase 1 complete",
        "Please review the NATS section",
    ]


def test_what_an_agent_was_sent_is_read_and_whether_it_read_it_is_not_known(run: Run, tmp_path: Path) -> None:
    rows = run("read", "--as", "codex", "--json", "--store", copied(tmp_path)).document
    assert [row["content"] for row in rows] == [
        "Please review the NATS section",
        "Team update: Phase 1 complete",
        "@codex fix dual write",
    ]
    assert {row["states"]["codex"] for row in rows} == {"unrecorded"}


def test_mail_in_a_channel_that_names_somebody_is_theirs_alone(run: Run, tmp_path: Path) -> None:
    shared = SharedFolder(tmp_path)
    shared.record("sessions/ink.json", id="ink", agents=["codex", "gemini"])
    shared.message("20260316-120000-claude-0001", content={"text": "For codex alone."})
    shared.message("20260316-120001-claude-0002", to="all", content={"text": "For all."})
    shared.message("20260316-120002-claude-0003", content={"text": "To codex, and @gemini looks."})
    words = ("read", "--json", "--store", shared.root, "--as")
    assert [row["content"] for row in run(*words, "gemini").document] == ["For all.", "To codex, and @gemini looks."]
    assert len(run(*words, "codex").document) == 3
    [row] = run("channels", "--json", "--store", shared.root).document
    assert row["messages"] == 3
    for to, reached in ((["--to", "codex"], {"codex"}), ([], {"codex", "gemini", "claude"})):
        words = ("--from", "user", *to, "--to", "project:ink", "--body", "x", "--json", "--store", shared.root)
        assert set(run("send", *words).document["states"]) == reached


def test_a_text_that_begins_with_an_agent_s_name_is_for_it(run: Run, tmp_path: Path) -> None:
    shared = SharedFolder(tmp_path)
    shared.record("registry/agents/qc-1.json", id="qc-1")
    texts = ("QC-1: look.", "qc-1, and again.", "qc-12 does it.", "Does qc-1 know?", "gemini, look.", "- qc-1 is here.")
    for at, text in enumerate(texts):
        shared.message(f"20260316-12000{at}-claude-000{at}", content={"text": text})
    words = ("read", "--json", "--store", shared.root, "--as")
    assert [row["content"] for row in run(*words, "qc-1").document] == [*texts[:2]]
    shared.record("signals/presence/gemini.json", agent_id="gemini", timestamp="2026-03-16T12:00:00Z")
    assert [row["content"] for row in run(*words, "gemini").document] == ["gemini, look."]
    send = ["send", "--from", "claude", "--to", "codex", "--body", "Gemini knows.", "--json", "--store", shared.root]
    assert run(*send).document["states"] == {"codex": "unrecorded", "gemini": "unrecorded"}


def test_code_and_artifacts_are_sent_in_their_own_fields(run: Run, tmp_path: Path) -> None:
    shared = SharedFolder(tmp_path)
    words = ["send", "--from", "claude", "--to", "codex", "--to", "project:ink", "--json"]
    words += ["--store", f"channels:{shared.root}"]
    more = ["--body", "Look.", "--meta", "content.code=print(1)", "--meta", "branch=main", "--meta"]
    row = run(*words, *more, 'content.artifacts=["plan.png", {"path": "a.md"}]').document
    [path] = shared.channel.iterdir()
    record = json.loads(path.read_bytes())
    assert record["content"] == {"text": "Look.", "code": "print(1)", "artifacts": ["plan.png", {"path": "a.md"}]}
    assert record["metadata"] == {"mode": "chat", "turn": "claude", "in_reply_to": None, "branch": "main"}
    assert row["content"] == "Look.\n\n```\nprint(1)\n```\n\n- plan.png\n- a.md"
    run(*words, *more, "content.artifacts=plan.png")
    last = max(shared.channel.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert json.loads(last.read_bytes())["content"]["artifacts"] == ["plan.png"]
    refused = run(*words, *more, "content.artifacts=[1")
    assert (refused.status, "no JSON list" in refused.err, len(list(shared.channel.iterdir()))) == (1, True, 2)


def test_an_agent_s_row_has_its_watcher_s_process_and_the_last_error_of_its_log(run: Run, tmp_path: Path) -> None:
    root = copied(tmp_path)
    error = "[2026-11-20 21:48:00] \\033[0;31mERROR\\033[0m: Codex failed"
    log = root / "logs" / "bags-watcher.log"
    log.parent.mkdir()
    for text, warning in ((f"{error}, once\n{error}\n", True), (f"{error}\n[2026-11-20] OK: Got it\n", False)):
        log.write_text(text)
        rows = {row["session_id"]: row for row in run("agents", "--json", "--store", root).document}
        assert rows["bags-1"]["facts"] == [
            {"name": "watcher", "value": "process 12345", "source": "presence/bags-1.json", "warning": False},
            {
                "name": "last error",
                "value": "[2026-11-20 21:48:00] ERROR: Codex failed",
                "source": "logs/bags-watcher.log",
                "warning": warning,
            },
        ]
        assert "facts" not in rows["codex"]
        shown = run("agents", "--store", root).out
        assert ("last error: [2026-11-20 21:48:00] ERROR: Codex failed" in shown) is warning
        assert ("warning" in shown) is warning
    log.with_name("codex-daemon.log").symlink_to(log)
    shown = run("agents", "codex", "--store", root).out
    assert "error" not in shown


def test_a_draft_in_a_channel_reaches_whom_it_names(tmp_path: Path) -> None:
    shared = SharedFolder(tmp_path)
    shared.record("sessions/ink.json", id="ink", agents=["codex", "gemini"])
    url = url_of({"lab": f"channels:{shared.root}"})
    for place, head in ((f"channels:{shared.root}", ""), (url, "lab/")):
        with open_store(place) as store:
            mailbox = fold_store(store, "user", 0.0)
            for to, reached in (((f"{head}codex",), ["codex"]), ((), ["codex", "gemini"])):
                draft = prepare(mailbox, 0.0, sender="user", recipients=(*to, f"project:{head}ink"), content="x")
                found = preview(mailbox, draft, 0.0, is_for_named=store.is_for_named(draft))
                assert sorted(found.reaches) == [head + name for name in reached]


def test_code_is_shown_as_code(run: Run, tmp_path: Path) -> None:
    out = run("read", "--as", "claude", "--store", copied(tmp_path)).out
    assert "here is code\n\n    ```\n    print(1)\n    ```" in out


def test_an_answer_goes_as_the_person_s_and_shows_that_what_it_answers_was_read(run: Run, tmp_path: Path) -> None:
    root = copied(tmp_path)
    asked = "msg-20261120-215017-codex-11ca"
    words = ("--from", "user", "--to", "codex", "--body", "Well done.", "--thread", asked, "--meta", "branch=ink")
    result = run("send", *words, "--store", root)
    assert result.status == 0
    rows = run("read", "--as", "codex", "--json", "--store", root).document
    assert (rows[-1]["sender"], rows[-1]["thread"], rows[-1]["recipients"]) == ("user", asked, ["codex", ROOM])
    assert (root / "channels/agent-os-paper" / f"{rows[-1]['id']}.json").is_file()


def test_a_reply_in_plain_mode_goes_to_the_channel_without_a_subject(
    shell: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    root = copied(tmp_path)
    console = shell("open", "--plain", root, stdin=subprocess.PIPE)
    out, _ = console.communicate(b"reply msg-20261120-215017-codex-11ca\nThanks.\n.\nquit\n", timeout=60)
    assert b"Sent to #agent-os-paper" in out
    [sent] = [one for one in messages_in(root).values() if one.subject == "Thanks."]
    assert (sent.thread, sent.recipients) == ("msg-20261120-215017-codex-11ca", (ROOM,))


def test_what_a_channel_can_not_hold_is_said_with_the_way_out(run: Run, tmp_path: Path) -> None:
    root = copied(tmp_path)
    words = ("--from", "user", "--to", "codex", "--body", "Well done.")
    result = run("send", *words, "--subject", "Code", "--store", root)
    assert result.status != 0
    assert "put it at the beginning of the text" in result.err
    result = run("send", "--from", "user", "--to", "worker", "--body", "Well done.", "--store", root)
    assert "use claude or codex" in result.err


def test_an_agent_reports_what_it_does_and_is_registered_frozen_and_retired(run: Run, tmp_path: Path) -> None:
    root = copied(tmp_path)
    words = ("--store", root)
    assert run("presence", "--as", "codex", "--state", "working", "--substate", "the ink", *words).status == 0
    [codex] = [row for row in run("who", "--json", *words).document if row["session_id"] == "codex"]
    assert (codex["state"], codex["substate"]) == ("working", "the ink")
    assert b'"session_persistent": true' in (root / "signals/presence/codex.json").read_bytes()
    register = ("roster", "register", "gemini", "--role", "worker", "--tags", "project:agent-os-paper")
    assert run(*register, *words).out == "gemini living worker project:agent-os-paper\n"
    assert run("roster", "freeze", "gemini", *words).out.startswith("gemini frozen")
    assert run("roster", "resume", "gemini", *words).out.startswith("gemini living")
    assert run("roster", "retire", "claude", *words).status == 0
    rows = {row["session_id"]: row for row in run("roster", "--json", *words).document}
    assert {name: rows[name]["status"] for name in ("gemini", "claude")} == {"gemini": "living", "claude": "dead"}


def test_a_program_that_said_so_later_decides_about_its_presence(run: Run, tmp_path: Path) -> None:
    root = copied(tmp_path)
    presence = root / "signals/presence/codex.json"
    presence.write_bytes(presence.read_bytes().replace(b"2026-", b"2096-"))
    before = presence.read_bytes()
    assert run("presence", "--as", "codex", "--state", "idle", "--store", root).status == 0
    result = run("roster", "freeze", "codex", "--store", root)
    assert result.status != 0
    assert "codex's own program says what it does, and said so later" in result.err
    assert presence.read_bytes() == before
