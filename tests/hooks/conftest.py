"""What the tests of hooks start from: a state folder and settings of their own, and an empty mailbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from console.hooks.sessions import registration
from tests.hooks.fleet import Fleet
from tests.hooks.forking import HookForks
from tests.hooks.hooked import Hooked
from tests.mailboxes import MailFiles


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HookForks]:
    """The process that runs the hooks of most tests."""
    forks = HookForks(tmp_path_factory.mktemp("forks"))
    yield forks
    forks.close()


@pytest.fixture
def hooked(tmp_path: Path, forks: HookForks) -> Hooked:
    return Hooked(tmp_path, forks)


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    mail = MailFiles(tmp_path / "ink")
    mail.data.joinpath("agent-roster.jsonl").touch()
    fleet = Fleet(tmp_path / "ink")
    fleet.env = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    monkeypatch.setattr(registration, "program_process", lambda: fleet.process)
    return fleet
