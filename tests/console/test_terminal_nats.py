"""A console in a terminal on a NATS server: mail that comes, a server that is cut off, and mail that came meanwhile."""

from __future__ import annotations

from mailstore.kinds.nats.own_server import NatsServer
from mailstore.records.draft import draft
from mailstore.records.roster import Agent
from mailstore.registry import create_store
from tests.conftest import Open
from tests.servers.cuttable import CuttablePassage

ANN, BOB = "ann-00000001", "bob-00000001"


def test_mail_comes_the_server_goes_and_nothing_is_lost(nats_server: NatsServer, open_console: Open) -> None:
    location = f"//{nats_server.address}/terminal"
    with create_store("nats", location) as store, CuttablePassage(nats_server.port) as passage:
        store.update_agent(Agent(ANN, role="scribe"))
        store.send(draft(sender=BOB, recipients=("scribe",), content="The first text.", subject="First"))
        terminal = open_console(f"nats://127.0.0.1:{passage.port}/terminal", size=(110, 30))
        terminal.wait_for("The first text.")
        store.send(draft(sender=BOB, recipients=("scribe",), content="The second text.", subject="Second"))
        terminal.wait_for("Second")
        passage.cut()
        terminal.wait_for("cut off since")
        store.send(draft(sender=BOB, recipients=("scribe",), content="The third text.", subject="Third"))
        passage.repair()
        terminal.wait_for("Third")
        terminal.wait_for("● live")
        assert "3 messages" in terminal.line(0)
