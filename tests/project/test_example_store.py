"""The store of `docs/writing-a-store.md`, installed as its readers do it: found, used, and true to the contract."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import indent

import pytest

from tests.project.conftest import EXAMPLE, ROOT, run

GUIDE = (ROOT / "docs" / "writing-a-store.md").read_text(encoding="utf-8")


def lines(text: str) -> str:
    """Return a text without its empty lines, of which a formatter has its own opinion in pages."""
    return "".join(f"{line}\n" for line in text.split("\n") if line.strip())


SOURCES = "\n".join(
    lines((EXAMPLE / name).read_text(encoding="utf-8"))
    for name in ("src/signalbox_notes.py", "tests/test_conformance.py", "pyproject.toml")
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
    [letter] = json.loads(read)
    assert (letter["id"], letter["subject"], letter["content"]) == (sent, "Done", "Chapter three is done.")


def test_it_passes_the_conformance_suite(installed: Path, tmp_path: Path) -> None:
    suite = EXAMPLE / "tests" / "test_conformance.py"
    told = run(installed, "-P", "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", tmp_path, suite, cwd=tmp_path)
    assert re.search(r"[1-9]\d passed", told)
    assert "failed" not in told


@pytest.mark.parametrize("block", re.findall(r"^```(?:python|toml)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))
def test_what_the_guide_shows_stands_in_the_example(block: str) -> None:
    for part in re.split(r"^ *\.\.\.\n", block, flags=re.MULTILINE):
        assert any(indent(lines(part), " " * depth) in SOURCES for depth in (0, 4)), part
