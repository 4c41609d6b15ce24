"""Files and folders of every kind that may not be read: what they hold is missing only if that is said."""

from __future__ import annotations

import errno
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mailstore.errors import StoreError
from tests.hostile.kill import Told, told
from tests.hostile.samples import SAMPLES

ASKING = ("open", "scandir", "listdir", "stat", "lstat")
LISTING = ("open", "scandir", "listdir")


@contextmanager
def refused(place: Path) -> Iterator[None]:
    """Let no file be opened, or no folder be listed nor anything in it be looked at, as one without permissions."""
    itself, below = str(place), f"{place}{os.sep}"

    def asked(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any = ".", *args: Any, **more: Any) -> Any:
            if not isinstance(path, int):
                text = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - resolving would ask
                if text.startswith(below) or (text == itself and name in LISTING):
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


def hidden(url: str, whole: Told) -> list[object]:
    """Return what mail is missing, and of what mail reads are missing or more, without a word."""
    try:
        found = told(url)
    except StoreError:
        return []
    is_said = found.faults > whole.faults
    reads = [
        Counter(message for message, _ in each.reads) for each in (whole, found)
    ]  # a reader may be called otherwise
    return [] if is_said else [*(whole.messages - found.messages), *(reads[0] - reads[1]), *(reads[1] - reads[0])]


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_may_not_be_read_is_not_taken_for_nothing(
    sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "box"
    folder.mkdir()
    url = SAMPLES[sample](folder)
    whole = told(url)
    places = sorted(folder.rglob("*"))
    found = []
    for number, place in enumerate(places):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"state-{number}"))  # nothing is remembered
        with refused(place):
            missing = hidden(url, whole)
        if missing:
            found.append((str(place.relative_to(folder)), missing))
    assert not found
