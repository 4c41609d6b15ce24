"""Take the picture of tmux with mail in its status bar: a real tmux, its configuration from the manual. Needs tmux.

python -m screenshots.in_tmux
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path

from console.demo.history import write_history
from screenshots.take import SEED
from screenshots.terminal_picture import picture
from tests.terminal import Terminal, environment

ROOT = Path(__file__).parents[1]
SNIPPET = re.compile(r"(?s)```tmux\n(.*?)```")
LOOK = """
set -g status-style "bg=#1b2230,fg=#cdd5df"
set -g default-command "bash --norc --noprofile -i"
"""


def main() -> None:
    """Start tmux as the page says, ask for the numbers, and keep the picture."""
    found = SNIPPET.search((ROOT / "docs" / "shell.md").read_text("utf-8"))
    assert found
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_history(home / "ink" / "data", time.time(), SEED)
        programs = home / "bin"
        programs.mkdir()
        script = programs / "signalbox"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m console "$@"\n', "utf-8")
        script.chmod(0o755)
        (home / "tmux.conf").write_text(f"{found[1]}{LOOK}", "utf-8")
        env = environment(home, PS1="$ ", SHELL="/bin/sh")
        env["PATH"] = f"{programs}:{env['PATH']}"
        argv = ["tmux", "-S", str(home / "socket"), "-f", str(home / "tmux.conf"), "new-session", "-s", "ink"]
        with Terminal(argv, env=env, size=(90, 10), cwd=home / "ink") as terminal:
            terminal.wait_for("$")
            terminal.send("signalbox status\r")
            terminal.wait_for("for you ·")
            terminal.wait_for(lambda seen: seen.line(2).startswith("$"))
            terminal.send("signalbox status --format '{for_you} waiting for me'\r")
            terminal.wait_for("8 waiting for me")
            terminal.wait_for(lambda seen: "for you" in seen.line(9))
            drawn = picture(terminal, (), "mail in tmux's status bar")
            terminal.send("exit\r")
            terminal.wait_exit()
    (ROOT / "screenshots" / "tmux.svg").write_text(drawn + "\n", "utf-8")


if __name__ == "__main__":
    main()
