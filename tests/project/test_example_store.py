"""The store of `docs/writing-a-store.md`, installed as its readers do it: found, used, and true to the contract."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import indent
from time import monotonic

import pytest

from tests.patience import PATIENCE
from tests.project.conftest import EXAMPLE, ROOT, run

GUIDE = (ROOT / "docs" / "writing-a-store.md").read_text(encoding="utf-8")


def lines(text: str) -> str:
    """Return a text without its empty lines, of which a formatter has its own opinion in pages."""
    return "".join(f"{line}\n" for line in text.split("\n") if line.strip())


PARTS = [f"src/signalbox_notes/{name}.py" for name in ("__init__", "store", "quick", "command")]
SOURCES = "\n".join(
    lines((EXAMPLE / name).read_text(encoding="utf-8"))
    for name in (*PARTS, "tests/test_conformance.py", "pyproject.toml")
)


def test_its_kind_is_found_and_its_mail_is_sent_and_read(installed: Path, tmp_path: Path) -> None:
    program = (installed, "-P", "-m", "console")
    kinds = {kind["kind"]: kind for kind in json.loads(run(*program, "stores", "--json", cwd=tmp_path))}
    assert kinds["notes"]["summary"].startswith("a folder NAME.notes")
    assert {"mark-read", "archive"} <= set(kinds["notes"]["missing"])
    made = json.loads(run(*program, "init", "--kind", "notes", "team.notes", "--json", cwd=tmp_path))
    assert made == {"url": f"notes:{tmp_path.resolve() / 'team.notes'}", "created": True}
    words = ("--from", "ann-00000001", "--to", "bob-00000001", "--subject", "Done", "--body", "Chapter three is done.")
    sent = run(*program, "send", *words, "--literal", "--store", "team.notes", cwd=tmp_path).strip()
    assert (tmp_path / "team.notes" / f"{sent}.md").read_text(encoding="utf-8").startswith("From: ann-00000001\n")
    read = run(*program, "read", "--as", "bob-00000001", "--store", "team.notes", "--json", cwd=tmp_path)
    [message] = json.loads(read)
    assert (message["id"], message["subject"], message["content"]) == (sent, "Done", "Chapter three is done.")


def put(folder: Path, name: str, sender: str, to: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text(f"From: {sender}\nTo: {to}\n\nChapter {name} is done.", encoding="utf-8")


def test_its_own_command_is_one_of_the_programs(installed: Path, tmp_path: Path) -> None:
    program = (installed, "-P", "-m", "console")
    for name, sender in (("one", "ann-00000001"), ("two", "ann-00000001"), ("three", "bob-00000001")):
        put(tmp_path / "mail.notes", name, sender, "cid-00000001")
    assert run(*program, "notes", cwd=tmp_path).split() == ["agent", "notes", "ann-00000001", "2", "bob-00000001", "1"]
    found = json.loads(run(*program, "notes", "--least", "2", "--json", "--store", "mail.notes", cwd=tmp_path))
    assert found == {"by": {"ann-00000001": 2}}
    assert "the most first" in run(*program, "schema", "notes", cwd=tmp_path)
    assert "exit status:\n  1  there is no such note" in run(*program, "notes", "--help", cwd=tmp_path)
    assert "Count what each agent wrote" in run(*program, "--help", cwd=tmp_path)


def test_hooks_find_it_and_tell_an_agent_of_a_note(installed: Path, tmp_path: Path) -> None:
    site = next((installed.parents[1] / "lib").glob("python*/site-packages"))
    hook = (installed, "-I", "-S", site / "console" / "hooks" / "entry.py", "claude-code")
    event = {"session_id": "11111111-2222-4333-8444-5555abcdef12", "cwd": str(tmp_path), "source": "startup"}

    def happens(name: str) -> str:
        return run(*hook, cwd=tmp_path, given=json.dumps({**event, "hook_event_name": name}))

    def tells(name: str) -> str:
        """Return what is told; a hook that a loaded machine stops leaves it to the next one."""
        said, deadline = "", monotonic() + PATIENCE
        while not said and monotonic() < deadline:
            said = happens(name)
        return said

    put(tmp_path / "mail.notes", "one", "claude-abcdef12", "bob-00000001")  # who writes is an agent
    assert "claude-abcdef12" in tells("SessionStart")
    assert happens("PostToolUse") == ""
    put(tmp_path / "mail.notes", "two", "ann-00000001", "claude-abcdef12")
    assert "1 new message for claude-abcdef12" in tells("PostToolUse")


def test_its_quick_answer_is_nothing_or_that_the_mailbox_must_be_folded(installed: Path, tmp_path: Path) -> None:
    ask = (
        "import sys; from mailstore.files.scan import Unusual; from mailstore.quick_answers import quick_answers\n"
        "try: print(quick_answers('notes').unread(sys.argv[1], 'cid-00000001', 0.0).messages)\n"
        "except Unusual as unusual: print(unusual)"
    )
    put(tmp_path / "mail.notes", "one", "ann-00000001", "bob-00000001")
    assert run(installed, "-P", "-c", ask, tmp_path / "mail.notes", cwd=tmp_path) == "[]\n"
    for to in ("bob-00000001, cid-00000001", "all", "architect"):
        put(tmp_path / "mail.notes", "two", "ann-00000001", to)
        assert "may be for the agent" in run(installed, "-P", "-c", ask, tmp_path / "mail.notes", cwd=tmp_path)


def test_it_passes_the_conformance_suite(installed: Path, tmp_path: Path) -> None:
    suite = EXAMPLE / "tests" / "test_conformance.py"
    told = run(installed, "-P", "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", tmp_path, suite, cwd=tmp_path)
    assert re.search(r"[1-9]\d passed", told)
    assert "failed" not in told


@pytest.mark.parametrize("block", re.findall(r"^```(?:python|toml)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))
def test_what_the_guide_shows_stands_in_the_example(block: str) -> None:
    for part in re.split(r"^ *\.\.\.\n", block, flags=re.MULTILINE):
        assert any(indent(lines(part), " " * depth) in SOURCES for depth in (0, 4)), part
