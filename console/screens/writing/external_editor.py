"""Have the user's own editor change a text, without losing what it saved."""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from textual.app import SuspendNotSupported

from console.browser.place import is_in_browser
from console.opening import editor_command
from console.screens.mail_screen import MailScreen
from mailstore.errors import reason_of
from mailstore.files.whole import read_text


def edited(screen: MailScreen, body: str) -> str | None:
    """Return a text as the user's editor left it; None where it failed, which is reported. Blocks."""
    command = editor_command(screen.session.config.editor)
    if is_in_browser():
        screen.report(f"{command} needs a terminal: write here, or open the console in one", "No editor in a browser")
        return None
    try:
        folder = tempfile.mkdtemp(prefix="signalbox-")
    except OSError as error:
        screen.report(f"Can't write a file for {command!r}: {reason_of(error)}")
        return None
    path = Path(folder) / "message.md"
    try:
        path.write_text(body, encoding="utf-8")
        with screen.suspend():
            done = subprocess.run([*shlex.split(command), str(path)], check=False)
        written = read_text(path, errors="replace")
    except (SuspendNotSupported, OSError, ValueError) as error:
        screen.report(f"Can't run {command!r}: {reason_of(error)}")
        shutil.rmtree(folder, ignore_errors=True)
        return None
    is_done = done.returncode == 0
    if is_done or written == body:
        shutil.rmtree(folder, ignore_errors=True)
    if not is_done:
        kept = "" if written == body else f"; what it saved is in {path}"
        screen.report(f"{command} {_failure(done.returncode)}: the draft is unchanged{kept}")
    return written if is_done else None


def _failure(status: int) -> str:
    if status > 0:
        return f"failed with status {status}"
    return f"was ended by a signal ({signal.strsignal(-status) or -status})"
