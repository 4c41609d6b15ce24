"""Fixtures of servers: shared by the tests of one worker, each test with mailboxes of its own names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

import pytest

from mailstore.kinds.nats.own_server import NatsServer, nats_program
from tests.servers.agentazall_programs import AgentRelay, running_relay
from tests.servers.certificates import Certificates, certificates
from tests.servers.ftp_servers import FtpPlace, agentazall_ftp
from tests.servers.nats_cluster import NatsCluster, running_cluster
from tests.servers.nats_configs import one_node

if TYPE_CHECKING:
    from tests.servers.agent_mail import AgentMailServer

_numbers = count(1)


def need_nats() -> None:
    """Skip the test where nats-server is not installed."""
    if nats_program() is None:
        pytest.skip("nats-server is not installed")


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """One node with JetStream, shared; a test that stops it starts its own `NatsServer(one_node(tmp_path))`."""
    need_nats()
    with NatsServer(one_node(tmp_path_factory.mktemp("nats"))) as server:
        yield server


@pytest.fixture(scope="session")
def nats_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsCluster]:
    """Three nodes, shared; takes some seconds."""
    need_nats()
    with running_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def nats_location(nats_server: NatsServer) -> str:
    """A location on the shared server, `//127.0.0.1:PORT/NAME`, where no mailbox is yet."""
    return f"//{nats_server.address}/mail-{next(_numbers)}"


@pytest.fixture(scope="session")
def agent_mail_server() -> Iterator[AgentMailServer]:
    """The server of MCP Agent Mail, shared; each test serves a database of its own."""
    from tests.servers.agent_mail import AgentMailServer

    server = AgentMailServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def server_certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates of an authority of this run, for servers on 127.0.0.1."""
    return certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def agentazall_relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentRelay]:
    """AgentAZAll's own relay, shared; each test registers names of its own."""
    with running_relay(tmp_path_factory.mktemp("relay")) as relay:
        yield relay


@pytest.fixture(scope="session")
def original_ftp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FtpPlace]:
    """AgentAZAll's own FTP server, shared."""
    with agentazall_ftp(tmp_path_factory.mktemp("ftp")) as place:
        yield place
