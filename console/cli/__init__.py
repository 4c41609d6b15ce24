"""The `signalbox` command: one module for each command, imported only when it runs."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

__all__ = ["command", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 1 refused or failed, 2 invalid arguments."""
    from console.cli.terminal_io import guarded, replace_closed_streams

    replace_closed_streams()
    return guarded(_chosen, list(sys.argv[1:] if argv is None else argv))


def command() -> NoReturn:
    """Run the command that was typed, and exit with its status."""
    status = main()
    if "threading" not in sys.modules:  # nothing that must end in order: freeing all objects takes a hook's agent time
        os._exit(status)
    sys.exit(status)


def _chosen(words: list[str]) -> int:
    if words in (["--version"], ["-V"], ["version"]):
        from console.cli.version import VERSION

        print(f"signalbox {VERSION}")
        return 0
    if words[:2] == ["hook", "run"] and not set(words) & {"-h", "--help"}:
        from console.hooks.entry import hook

        return hook(words[2:])
    if words[:1] == ["check"]:
        from console.cli.quick_check import quick_check

        if (status := quick_check(words[1:])) is not None:
            return status
    if words[:1] == ["status"]:
        from console.cli.quick_status import quick_status

        if (status := quick_status(words[1:])) is not None:
            return status
    if words[:1] == ["completion"]:
        from console.cli.quick_completion import quick_completion

        if (status := quick_completion(words[1:])) is not None:
            return status
    if (url := _plainly_opened(words)) is not None:
        gc.disable()  # imports make little garbage; the application enables it again
        from console.cli.open import open_plainly

        return open_plainly(url)
    from console.cli.dispatch import dispatch

    return dispatch(words)


def _plainly_opened(words: list[str]) -> list[str] | None:
    """Return the mailbox to open, if any, when there are no other arguments; None if there are.

    The most common start needs no parser, whose import would delay the first screen.
    """
    rest = words[1:] if words[:1] == ["open"] else words
    is_named = (
        len(rest) == 1 and not rest[0].startswith("-") and (rest is not words or ":" in rest[0] or "/" in rest[0])
    )
    return rest if is_named or not rest else None
