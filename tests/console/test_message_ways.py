"""How a message went: that it waits in an outbox, by which transport it was tried, when, how often, and why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.kinds.agentazall.ledger import ArrivalState, LedgerWay, SendState
from mailstore.kinds.agentazall.sync.ledger_writer import LedgerWriter
from mailstore.records.scope import url_of
from tests.console.screen_text import opened
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail, identity

NOW = 1_795_300_000.0
ANN, BOB = "ann@localhost", "bob@example.org"
REASON = "relay \x1b[31mdown: connection refused"


@pytest.fixture
def mail(tmp_path: Path) -> AgentAZAllMail:
    mail = AgentAZAllMail(tmp_path / "mail")
    signed = identity(1).signed("A body.")
    mail.message(f"{ANN}/outbox", "0a1b2c3d4e5f", signed, From=ANN, To=BOB, Subject="On its way")
    mail.message(f"{ANN}/inbox", "c0ffee000001", From=BOB, To=ANN, Subject="It came")
    return mail


def tried(ledger: LedgerWriter, state: SendState, reason: str, tries: int) -> None:
    after = NOW + 300 if state is SendState.WAITING else None
    with ledger._lock:
        way = LedgerWay(ANN, "0a1b2c3d4e5f", BOB, "relay ann.agenttalk", state, tries, NOW - 60, reason, after)
        ledger._db.execute("INSERT OR REPLACE INTO ways VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [*way])


@pytest.mark.parametrize("is_one_of_several", [False, True])
async def test_a_message_that_waits_is_marked_and_its_way_is_in_the_details(
    is_one_of_several: bool, mail: AgentAZAllMail, tmp_path: Path
) -> None:
    url = f"agentazall:{mail.root}"
    label = "lab/" if is_one_of_several else ""
    shown = url_of({"lab": url, "memory": "memory:"}) if is_one_of_several else url
    ledger = LedgerWriter(mail.root.resolve())
    try:
        async with opened(shown, state=tmp_path / "state.db", now=NOW, size=(160, 40)) as seat:
            await seat.open_thread(f"{label}0a1b2c3d4e5f")
            (await seat.screen.load_parts()).delay_watch.tick()
            await seat.sees("◷ waits in the outbox")
            tried(ledger, SendState.WAITING, REASON, 3)
            watch = (await seat.screen.load_parts()).delay_watch
            await seat.until(lambda: not watch._is_looking)
            watch._ticks = 0
            watch.tick()
            await seat.sees("not sent yet by relay ann.agenttalk: relay ␛[31mdown")
            await seat.press("i")
            await seat.sees("ways")
            assert "relay ann.agenttalk" in seat.text
            assert "3 tries" in seat.text
            assert "next try" in seat.text
            await seat.press("escape")
            outbox = next(mail.root.glob(f"{ANN}/*/outbox"))
            (outbox.parent / "sent").mkdir()
            tried(ledger, SendState.DELIVERED, "", 4)
            message = next(outbox.glob("*.txt"))
            message.rename(outbox.parent / "sent" / message.name)
            await seat.until(lambda: "not sent yet" not in seat.text and "waits in the outbox" not in seat.text)
            await seat.press("i")
            await seat.sees("✓ relay ann.agenttalk")
            assert "delivered" in seat.text
    finally:
        ledger.close()


async def test_a_message_that_came_says_by_which_transport_and_how_often(mail: AgentAZAllMail, tmp_path: Path) -> None:
    ledger = LedgerWriter(mail.root.resolve())
    row = "INSERT INTO arrivals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    for key, state in (("1", ArrivalState.KEPT), ("2", ArrivalState.DUPLICATE)):
        ledger._db.execute(row, (ANN, f"imap {key}", key, "c0ffee000001", NOW - 90, state, "", BOB, b""))
    ledger.close()
    async with opened(f"agentazall:{mail.root}", state=tmp_path / "state.db", now=NOW, size=(160, 40)) as seat:
        await seat.open_thread("c0ffee000001")
        await seat.press("i")
        await seat.sees("✓ imap 1")
        assert "received again" in seat.text
        assert "waits in the outbox" not in seat.text
