"""Run hooks in processes forked from one that has their modules imported: a start of Python takes longer than a hook.

`python -I -S tests/hooks/forking.py ROOT` reads a request from each line of its input and answers with an exit status.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CHANGING = ("write", "rename", "ftruncate", "utime", "link", "unlink", "mkdir")
PATIENCE_SECONDS = 60.0
"""For a hook's clock: a loaded machine takes longer than a person would wait."""


class HookForks:
    """The process that forks; `folder` holds the input and the output of the hook that runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        argv = [sys.executable, "-I", "-S", __file__, str(ROOT)]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, words: list[str], given: str, env: dict[str, str], killed_at: int = 0) -> tuple[str, str, int]:
        """Run a hook to its end, or up to a call that changes a file; return its output, its errors and its status."""
        assert self._process.stdin
        assert self._process.stdout
        files = [self._folder / name for name in ("in", "out", "err")]
        files[0].write_text(given, encoding="utf-8", errors="surrogateescape")
        request = {"words": words, "env": env, "files": list(map(str, files)), "killed_at": killed_at}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        return files[1].read_text("utf-8"), files[2].read_text("utf-8"), status

    def close(self) -> None:
        self._process.communicate()


def serve() -> None:
    import mailstore.haak.quick.quick_unread
    import mailstore.haak.write.quick_roster  # noqa: F401

    while line := sys.stdin.readline():
        request = json.loads(line)
        child = os.fork()
        if not child:
            run(request)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def run(request: dict[str, Any]) -> None:
    """Be a hook, and end."""
    from console.hooks import clock, entry

    status = 70
    try:
        os.environ.clear()
        os.environ.update(request["env"])
        for fd, (path, flags) in enumerate(zip(request["files"], (os.O_RDONLY, *[NEW] * 2), strict=True)):
            opened = os.open(path, flags, 0o600)
            os.dup2(opened, fd)
            os.close(opened)
        for name in CHANGING if request["killed_at"] else ():
            setattr(os, name, dying(getattr(os, name), request))
        clock.LIMIT_SECONDS = PATIENCE_SECONDS
        status = entry.hook(request["words"])
    finally:
        os._exit(status)


NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def dying(call: Callable[..., Any], request: dict[str, Any]) -> Callable[..., Any]:
    def called(*given: Any, **named: Any) -> Any:
        request["killed_at"] -= 1
        if not request["killed_at"]:
            os._exit(9)
        return call(*given, **named)

    return called


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    serve()
