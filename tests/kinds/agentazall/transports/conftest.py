"""Servers for the tests of transports, shared by the tests of one worker; each test has agents of its own names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from mailstore.kinds.agentazall.transports.relay import RelayAccount, RelayTransport
from tests.kinds.agentazall.transports.receiver import KeptMessages
from tests.servers.certificates import Certificates
from tests.servers.mail_servers import AgentMailServer, Dovecot, running_dovecot, running_mail_server

_numbers = count(1)


@pytest.fixture(scope="session")
def agentazall_mail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentMailServer]:
    """AgentAZAll's own e-mail server."""
    with running_mail_server(tmp_path_factory.mktemp("mail")) as server:
        yield server


@pytest.fixture(scope="session")
def dovecot(server_certificates: Certificates) -> Iterator[Dovecot]:
    """A mail server of the kind that people run."""
    with running_dovecot(server_certificates) as server:
        yield server


@pytest.fixture(autouse=True)
def _relays_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what a test leaves open: the process that asks a relay would stay until the last test."""
    made: list[RelayTransport] = []
    begin = RelayTransport.__init__

    def noted(transport: RelayTransport, account: RelayAccount) -> None:
        begin(transport, account)
        made.append(transport)

    monkeypatch.setattr(RelayTransport, "__init__", noted)
    yield
    for each in made:
        each.close()


@pytest.fixture
def new_name() -> Callable[[str], str]:
    """Return a name that no other test of this worker has taken: `new_name("ann")`."""
    return lambda name: f"{name}{next(_numbers)}"


@pytest.fixture
def receiver(tmp_path: Path) -> KeptMessages:
    folder = tmp_path / "spool"
    folder.mkdir()
    return KeptMessages(folder)
