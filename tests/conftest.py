"""What every test may ask for: programs in a terminal of their own, ended with the test."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.metadata import distribution
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import HealthCheck, core, settings

from mailstore.installation import DISTRIBUTION
from mailstore.installed_kinds import GROUP
from tests.bare import bare_path
from tests.folders import keep_in_memory, tmp_path
from tests.forking import FORK
from tests.lateness import be_late
from tests.servers.fixtures import (
    agent_mail_server,
    agentazall_relay,
    nats_cluster,
    nats_location,
    nats_server,
    original_ftp,
    server_certificates,
)
from tests.terminal import SIGNALBOX, Terminal, environment

__all__ = [
    "agent_mail_server",
    "agentazall_relay",
    "nats_cluster",
    "nats_location",
    "nats_server",
    "original_ftp",
    "server_certificates",
    "tmp_path",
]

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
LACKING = re.compile(r"^(an? .+ mailbox (can't|keeps|has)\b|its? )")
"""Why a test of all kinds of mailbox is skipped for one of them."""

LONGEST_ID, SHOWN = 100, 24
"""Characters of a parameter that name a test, and those of a longer one: some have millions, and every process of a run
sends all its names.
"""

keep_in_memory()
be_late()
os.environ.setdefault(FORK, "1")
for caught in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(caught) is signal.SIG_IGN:  # a script's job in the background, nohup: programs inherit it
        signal.signal(caught, signal.default_int_handler if caught is signal.SIGINT else signal.SIG_DFL)
gc.set_threshold(1_000_000, 20, 20)  # a fifth of the time went into looking for garbage

settings.register_profile(
    "fresh", max_examples=20, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("seek", settings.get_profile("fresh"), max_examples=3000)
settings.load_profile("fresh")  # every run tries others, those of its seed; --hypothesis-profile=seek looks for more


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Take one seed for the order of the tests and for all that they make at random; refuse an old installation."""
    declared = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["entry-points"][GROUP]
    if {point.name: point.value for point in distribution(DISTRIBUTION).entry_points.select(group=GROUP)} != declared:
        remedy = f"run {sys.executable} -m pip install --no-deps -e ."
        pytest.exit(f"error: the installed entry points are not those of pyproject.toml: {remedy}", 3)
    if config.getoption("hypothesis_seed", None) is None:
        core.global_force_seed = _seed_of(config)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test by the beginning and the length of a long text that it is given."""
    return f"{val[:SHOWN]!a} and {len(val)}" if isinstance(val, str | bytes) and len(val) > LONGEST_ID else None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave what stays until the end, every module and every test, out of each search for garbage."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Do so again for the five searches that pytest ends with."""
    gc.collect()
    gc.freeze()


def left_out(skipped: Sequence[pytest.TestReport]) -> list[str]:
    """Return why tests were skipped: what kinds of mailbox lack, as one number; any other reason by itself."""
    reasons = [each.longrepr[2] if isinstance(each.longrepr, tuple) else str(each.longrepr) for each in skipped]
    told = Counter(reason.removeprefix("Skipped: ") for reason in reasons)
    of_kinds = sum(number for reason, number in told.items() if LACKING.search(reason))
    lines = [f"not run: {number} × {reason}" for reason, number in sorted(told.items()) if not LACKING.search(reason)]
    return [*lines, f"not run: {of_kinds} × a kind of mailbox lacks what the test needs"] if of_kinds else lines


def _seed_of(config: pytest.Config) -> int:
    seed = config.getoption("randomly_seed", None)
    return seed if isinstance(seed, int) else 0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left out, and how the same run is had again."""
    for line in left_out(terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(line)
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        terminalreporter.write_line(f"the same order and examples again: --randomly-seed={_seed_of(config)}")


@pytest.fixture
def run_seed(request: pytest.FixtureRequest) -> int:
    """The seed of this run, for what is made at random without hypothesis."""
    return _seed_of(request.config)


class Start(Protocol):
    """Start a program in a terminal; `size` is columns and lines, `env` is added to a clean environment."""

    def __call__(self, argv: Sequence[str], *, size: tuple[int, int] = ..., **env: str) -> Terminal: ...


class Open(Protocol):
    """Open the console on a mailbox and wait for nothing."""

    def __call__(self, url: str, *words: str, size: tuple[int, int] = ..., **env: str) -> Terminal: ...


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH with the declared programs alone."""
    return bare_path(tmp_path_factory.mktemp("bin"))


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bare: str) -> None:
    """Keep every test away from the settings, the state and the mail of whoever runs it, and from most programs."""
    monkeypatch.setenv("PATH", bare)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for kind in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / "home" / kind.lower()))
    for name in ("NO_COLOR", "SIGNALBOX_STORE", "SIGNALBOX_AGENT_MAIL_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home folder of the programs that `terminal` starts; settings and state belong under it."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def terminal(home: Path) -> Iterator[Start]:
    with ExitStack() as ends:

        def start(argv: Sequence[str], *, size: tuple[int, int] = (120, 40), **env: str) -> Terminal:
            return ends.enter_context(Terminal(argv, env=environment(home, **env), size=size, cwd=home))

        yield start


@pytest.fixture
def open_console(terminal: Start) -> Open:
    def start(url: str, *words: str, size: tuple[int, int] = (120, 40), **env: str) -> Terminal:
        return terminal([*SIGNALBOX, "open", url, *words], size=size, **env)

    return start
