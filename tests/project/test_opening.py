"""Files are opened by one mechanism, which never waits for another program and never reads without a bound."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MECHANISM = "mailstore/files/whole.py"
OURS = "the program's own packaged file"
OWN_NEW = "a new file of one's own, in a folder of one's own"
NO_FILE = "a folder, a device or a descriptor"
NARROW = "starts in a few milliseconds, without our packages: opened without waiting, read once, up to a bound"
ALLOWED = {
    "console/cli/convert.py": NO_FILE,
    "console/cli/config.py": "a new file, made exclusively",
    "console/cli/terminal_io.py": NO_FILE,
    "console/cli/verify.py": "what the user names, which may be a pipe of the user's",
    "console/browser/driver.py": NO_FILE,
    "console/browser/page_actions.py": OWN_NEW,
    "console/completion/shells.py": OURS,
    "console/completion/table.py": OURS,
    "console/demo/agents.py": OWN_NEW,
    "console/demo/cast.py": OURS,
    "console/demo/history.py": "a new file, made exclusively",
    "console/demo/run.py": OWN_NEW,
    "console/hooks/install/programs/opencode.py": OURS,
    "console/hooks/calls.py": NARROW,
    "console/hooks/quick_look.py": NARROW,
    "console/hooks/sessions/processes.py": "the process table of Linux",
    "console/hooks/waking/limits.py": OWN_NEW,
    "console/serve/website.py": OURS,
    "console/status/counting.py": NO_FILE,
    "console/status/numbers.py": NARROW,
    "console/settings/theme_files.py": OURS,
    "mailstore/files/detached.py": NO_FILE,
    "mailstore/files/durable.py": NO_FILE,
    "mailstore/files/holders.py": "the process table of Linux",
    "mailstore/files/mounts.py": "the table of mounts of Linux",
    "mailstore/files/own_database.py": NO_FILE,
    "mailstore/files/owned.py": NO_FILE,
    "mailstore/haak_records/line_filter.py": NARROW,
    "mailstore/installation.py": "what pip and venv note of the program",
    "mailstore/kinds/agenties/adopt.py": "a new mailbox's file, which is written only",
    "mailstore/kinds/agenties/store.py": "a new file, made exclusively",
    "mailstore/kinds/beads/asking.py": "a list of regular files, made just before",
    "mailstore/kinds/beads/program.py": "what bd prints, into a folder of one's own",
    "mailstore/kinds/channels/adopt.py": "a new file, made exclusively",
    "mailstore/haak/bulk/parallel_read.py": NO_FILE,
    "mailstore/haak/search/word_index.py": NARROW,
}
METHODS = {"read_text", "read_bytes", "copyfile", "copy", "copy2"}
MAY_OPEN = re.compile("\\b(" + "|".join(["open", *METHODS]) + ")\\(")
"""What makes a module worth parsing."""
MODES = {"r", "rb", "w", "wb", "a", "ab", "x", "xb", "r+b"}


def _opens(call: ast.Call) -> bool:
    """Say whether a call opens a file by a path; one that is given our opener does it as our mechanism does."""
    function = call.func
    words = [
        each.value for each in (*call.args, *(word.value for word in call.keywords)) if isinstance(each, ast.Constant)
    ]
    if isinstance(function, ast.Name):
        openers = [word.value for word in call.keywords if word.arg == "opener"]
        return function.id == "open" and not any(isinstance(it, ast.Name) and it.id == "open_regular" for it in openers)
    if not isinstance(function, ast.Attribute):
        return False
    owner = function.value.id if isinstance(function.value, ast.Name) else ""
    if function.attr == "open":
        is_packed = owner == "gzip" and not (
            isinstance(call.args[0], ast.Name) and call.args[0].id in ("packed", "file")
        )
        return owner == "os" or is_packed or any(word in MODES for word in words)
    return function.attr in METHODS and (function.attr not in ("copy", "copy2", "copyfile") or owner == "shutil")


def _openings(path: Path) -> Iterator[int]:
    text = path.read_text("utf-8")
    if not MAY_OPEN.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and _opens(node):
            yield node.lineno


def test_every_file_is_opened_by_the_one_mechanism() -> None:
    found = {
        f"{path.relative_to(ROOT)}": lines
        for folder in ("mailstore", "console")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "conformance" not in path.parts and (lines := list(_openings(path)))
    }
    found.pop(MECHANISM)
    others = {path: lines for path, lines in found.items() if path not in ALLOWED}
    assert not others, f"open these by mailstore.files.whole, or say in the list why not: {others}"
    assert sorted(ALLOWED.keys() - found.keys()) == [], "these no longer open anything by themselves"


def test_what_opens_a_file_is_known() -> None:
    for text in ("open(p)", "p.open('rb')", "os.open(p, 0)", "p.read_bytes()", "p.read_text('utf-8')", "gzip.open(p)"):
        assert _opens(ast.parse(text, mode="eval").body), text  # type: ignore[arg-type]
    for text in ("open_binary(p)", "store.open(p)", "open(p, 'a', opener=open_regular)", "gzip.open(packed)"):
        assert not _opens(ast.parse(text, mode="eval").body), text  # type: ignore[arg-type]
