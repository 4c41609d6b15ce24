"""Files and folders that may not be read: tests run as root too, for whom permissions are none."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ASKING = ("open", "scandir", "listdir", "stat", "lstat")
LISTING = ("open", "scandir", "listdir")


@contextmanager
def refused(place: Path, *, listing: bool = False) -> Iterator[None]:
    """Let no file be opened, or no folder be listed nor anything in it be looked at, as one without permissions.

    With `listing`, what is in a folder may be opened by its name, as in one that may be entered and not read.
    """
    itself, below = str(place), f"{place}{os.sep}"

    def asked(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any = ".", *args: Any, **more: Any) -> Any:
            if not isinstance(path, int):
                text = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - resolving would ask
                if (text.startswith(below) and not listing) or (text == itself and name in LISTING):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), text)
            return real(path, *args, **more)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ASKING:
            patch.setattr(os, name, asked(name, getattr(os, name)))
        opened = asked("open", io.open)
        patch.setattr("builtins.open", opened)
        patch.setattr(io, "open", opened)
        yield
