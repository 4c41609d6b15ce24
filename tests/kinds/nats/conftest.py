"""Mailboxes on a NATS server that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mailstore.kinds.nats.address import location_of
from mailstore.kinds.nats.connection import Connection
from mailstore.kinds.nats.own_server import NatsServer
from tests.kinds.nats.nats_harness import NatsHarness
from tests.servers.cuttable import CuttablePassage


@pytest.fixture(scope="session")
def nats_passage(nats_server: NatsServer) -> Iterator[CuttablePassage]:
    """A way to the server that can be cut."""
    with CuttablePassage(nats_server.port) as passage:
        yield passage


@pytest.fixture(scope="session")
def nats_others(nats_server: NatsServer) -> Iterator[Connection]:
    """The connection of all other programs."""
    connection = Connection(location_of(f"//{nats_server.address}/none"))
    yield connection
    connection.close()


@pytest.fixture
def nats_box(nats_passage: CuttablePassage, nats_others: Connection) -> Iterator[NatsHarness]:
    """A mailbox that is not made yet, with what other programs do to it."""
    yield NatsHarness(nats_passage, nats_others)
    nats_passage.repair()
