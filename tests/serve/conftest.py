"""A browser and a served mailbox, shared by the tests of one worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.console.test_in_a_terminal import mailbox
from tests.mailboxes import MailFiles
from tests.serve.browser import CHROMIUM, Browser
from tests.serve.served import Served


@pytest.fixture(autouse=True)
def _chromium(request: pytest.FixtureRequest) -> None:
    """Skip the test where it needs a browser and none is installed."""
    if request.node.get_closest_marker("program") and CHROMIUM is None:
        pytest.skip("chromium is not installed")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with Browser() as started:
        yield started


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, MailFiles]]:
    """A mailbox with four messages and a server of it, shared by tests that leave both as they are."""
    folder = tmp_path_factory.mktemp("served")
    mail = mailbox(folder / "mail")
    home = folder / "home"
    home.mkdir()
    with Served(mail.url, home, "--observe-link") as server:
        yield server, mail
