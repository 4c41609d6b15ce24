"""A mailbox on a NATS server keeps the contract."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from console.demo.nats_server import NatsServer
from mailstore.conformance import Harness, StoreContract
from mailstore.stores.nats.address import location_of
from mailstore.stores.nats.connection import Connection
from tests.mailstore.nats_harness import NatsHarness
from tests.servers.cuttable import CuttablePassage


@pytest.fixture(scope="module")
def passage(nats_server: NatsServer) -> Iterator[CuttablePassage]:
    with CuttablePassage(nats_server.port) as passage:
        yield passage


@pytest.fixture(scope="module")
def others(nats_server: NatsServer) -> Iterator[Connection]:
    """The connection of all other programs."""
    connection = Connection(location_of(f"//{nats_server.address}/none"))
    yield connection
    connection.close()


class TestNats(StoreContract):
    @pytest.fixture
    def harness(self, passage: CuttablePassage, others: Connection) -> Iterator[Harness]:
        yield NatsHarness(passage, others)
        passage.mend()
