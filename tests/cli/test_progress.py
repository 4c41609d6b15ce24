from __future__ import annotations

import os

import pytest

from console.cli.progress import ProgressLine, StatusLine


def test_a_line_that_is_overwritten_fits_in_one_row(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("console.cli.progress.is_terminal", lambda stream: True)
    monkeypatch.setattr("os.get_terminal_size", lambda descriptor: os.terminal_size((40, 12)))
    status = StatusLine()
    status.show("0 sent, 0 received, 1 waiting, 4 accounts fail")
    status.clear()
    ProgressLine()("reading a mailbox with quite a long name on a server: 10 records", 1, 2)
    _, shown, _, progress = capfd.readouterr().err.split("\r\x1b[K")
    assert (len(shown), len(progress)) == (39, 39)
    assert shown.endswith("4 accounts fail")
    assert progress.endswith(" 50 %")
