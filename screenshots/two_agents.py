"""Take the picture of two real agents that talk, and the console beside them. Needs `make test-agents` first.

python -m screenshots.two_agents
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from screenshots.terminal_picture import picture
from tests.agents.claude_code import CLAUDE
from tests.agents.conversation import answering, asking, scene
from tests.agents.lab import Lab
from tests.bare import bare_path

HERE = Path(__file__).parent


def main() -> None:
    """Have the conversation, open its thread in the console, and keep the picture."""
    if CLAUDE.missing:
        sys.exit(CLAUDE.missing)
    with tempfile.TemporaryDirectory() as folder:
        programs = Path(folder, "programs")
        programs.mkdir()
        root = Path(folder, "ink")
        root.mkdir()
        lab = Lab(root, bare_path(programs))
        with asking() as architect, answering() as librarian:
            seen = scene(lab, architect, librarian)
            seen.console.press("enter")
            seen.console.wait_for("Leaf 12 is in since noon")
            drawn = picture(
                seen.console, (seen.architect, seen.librarian), "signalbox, and two sessions of Claude Code"
            )
            lab.close()
    (HERE / "two-agents.svg").write_text(drawn + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
