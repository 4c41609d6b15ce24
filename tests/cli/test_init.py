from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mailstore.installation import remedy
from tests.cli.conftest import Run
from tests.mailboxes import MailFiles


def test_init_makes_an_empty_mailbox_that_every_command_then_finds(run: Run) -> None:
    result = run("init")
    assert (result.status, result.err) == (0, "")
    assert run("threads", "--json").document == []
    assert run("agents", "--json").document == []
    assert Path("data/agent-mailbox.jsonl").read_bytes() == b""


def test_init_makes_the_folder_that_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    document = run("init", "new/place", "--json").document
    assert document["created"] is True
    assert run("threads", "--json", "--store", document["url"]).document == []
    monkeypatch.chdir("new/place")
    assert run("threads", "--json").document == []


def test_init_leaves_a_mailbox_that_is_there_as_it_is(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.message("m", "a", "b")
    before = mail.mailbox.read_bytes()
    result = run("init", tmp_path, "--json")
    assert (result.status, result.document["created"]) == (0, False)
    assert mail.mailbox.read_bytes() == before


@pytest.mark.parametrize(("kind", "where"), [("haak", "~/new"), ("haak", "new"), ("channels", "{tmp_path}/new")])
def test_init_takes_the_same_urls_as_every_command(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, where: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    url = f"{kind}:{where.format(tmp_path=tmp_path)}"
    done = run("init", url, "--json").document
    assert (done["created"], str(tmp_path / "new") in done["url"]) == (True, True)
    assert run("threads", "--json", "--store", url).document == []
    assert run("init", url, "--kind", kind, "--json").document == {**done, "created": False}
    refused = run("init", url, "--kind", "neo")
    assert (refused.status, f"the URL names a {kind} mailbox, not neo: leave out --kind" in refused.err) == (1, True)
    assert not [path for path in tmp_path.rglob("*") if ":" in path.name]


def test_init_of_an_unknown_kind_is_told(run: Run) -> None:
    result = run("init", "--kind", "hack")
    assert result.status == 1
    assert "did you mean haak?" in result.err
    assert not Path("data").exists()


def test_init_where_nothing_may_be_made_is_told_in_one_line(run: Run) -> None:
    Path("file").touch()
    result = run("init", "file/below")
    assert (result.status, result.out, result.err.count("\n")) == (1, "", 1)


def test_a_mailbox_on_a_server_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nats", None)
    monkeypatch.setitem(sys.modules, "nats.aio.client", None)
    monkeypatch.delitem(sys.modules, "mailstore.kinds.nats.opening", raising=False)
    for words in (["init", "nats://127.0.0.1:9/lab"], ["threads", "--store", "nats://127.0.0.1:9/lab"]):
        done = run(*words)
        assert (done.status, done.out) == (1, "")
        assert done.err == f"signalbox: the package nats-py is not installed: {remedy('nats')}\n"
