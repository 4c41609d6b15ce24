"""The programs that open links and files, and the user's editor."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys

from mailstore.errors import reason_of

OPENERS = ("open",) if sys.platform == "darwin" else ("xdg-open", "wslview")
SECONDS = 5
"""An opener that still runs then has started a program itself."""


def find_opener() -> str | None:
    """Return the path of the program that opens links; None where there is none."""
    return next(filter(None, map(shutil.which, OPENERS)), None)


async def open_link(opener: str, target: str) -> str:
    """Open a link, which `console.render.links.safe_target` returned; return what went wrong, empty for success."""
    nowhere = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            opener, target, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
        async with asyncio.timeout(SECONDS):
            status = await process.wait()
    except TimeoutError:
        return ""
    except OSError as error:
        return f"{opener} can't be run: {reason_of(error)}"
    return "" if status == 0 else f"{opener} exited with status {status}"


def editor_command(configured: str | None) -> str:
    """Return the command line of the editor: the configured one, $VISUAL, $EDITOR or vi."""
    return configured or os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
