from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.panes import footer
from console.screens.writing import composing

NOTICE_SECONDS = 3600.0


@pytest.fixture(autouse=True)
def _nobodys_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep every console away from the settings, the state and the clock of whoever runs the tests."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "own" / name.lower()))
    for name in ("SIGNALBOX_STORE", "NO_COLOR", "EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("mailstore.state.mailbox.IS_GUARDED", True)
    # a loaded machine may take longer to look than a person has to read
    monkeypatch.setattr(footer, "SHORTEST_SECONDS", NOTICE_SECONDS)
    monkeypatch.setattr(composing, "MOST_SECONDS", NOTICE_SECONDS)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
