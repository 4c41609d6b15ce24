"""What reaches a terminal or another program goes through few places, so that nothing new can pass them by."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONSOLE = sorted(path for path in (ROOT / "console").rglob("*.py") if "demo" not in path.parts)
PRINTING = {
    "cli/terminal_io.py": "the way out for text",
    "cli/document.py": "the way out for JSON",
    "cli/export.py": "documents, whose formats are tested",
    "cli/__init__.py": "the version",
    "cli/parser.py": "the help",
    "cli/progress.py": "percentages",
    "cli/archive.py": "a question",
    "cli/config.py": "a question",
    "cli/hooks.py": "a question",
    "plain/commands.py": "the prompt",
}
ENCODING = {
    "render/json_output.py": "the way out for JSON",
    "hooks/waking/wake_command.py": "an environment, in ASCII",
    "hooks/waking/limits.py": "what woke whom, for us alone",
    "hooks/steering.py": "a journal beside mailboxes that have none",
    "state/personal_state.py": "the person's own state",
    "sending/held_messages.py": "the person's own state",
    "state/database.py": "the person's own state",
    "hooks/install/install_notes.py": "our own state",
    "hooks/install/programs/codex.py": "a path as TOML, in a remark",
    "hooks/install/programs/opencode.py": "a command in a program's plugin",
    "hooks/install/settings_editor.py": "another program's settings, which keep their form",
    "hooks/install/trust.py": "a question to another program",
    "browser/driver.py": "packets to the web server",
    "serve/console_process.py": "packets to a console",
    "screens/journal.py": "shown as text",
}
PRINTS = {"print", "sys.stdout.write", "sys.stderr.write", "sys.stdout.buffer.write"}
ENCODES = {"json.dumps", "json.dump", "msgspec.json.encode", "msgspec.json.format"}


def calls(path: Path, what: set[str]) -> set[str]:
    """Return which of some functions a module calls."""
    text = path.read_text()
    if not any(f"{name.rpartition('.')[2]}(" in text for name in what):
        return set()
    return what & {ast.unparse(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)}


@pytest.mark.parametrize(("what", "places"), [(PRINTS, PRINTING), (ENCODES, ENCODING)])
def test_only_few_places_write_to_the_outside(what: set[str], places: dict[str, str]) -> None:
    found = {str(path.relative_to(ROOT / "console")) for path in CONSOLE if calls(path, what)}
    assert found <= places.keys()
