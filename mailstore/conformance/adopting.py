"""Rules of `adopt`: another mailbox's records are read as they were, and what can't be held is left out."""

from __future__ import annotations

from typing import Any

import pytest

from mailstore.conformance.harness import Harness, on_files
from mailstore.conformance.samples import ANN, BOB, message_record
from mailstore.errors import Unsupported
from mailstore.memory import MemoryStore
from mailstore.records.message import Receipt
from mailstore.records.roster import Agent
from mailstore.store import Capability
from mailstore.transfer.compare import Contents
from mailstore.transfer.convert import ConvertReport, convert

OUTSIDE = ("../../outside", "/outside", ".outside", "out\0side\nFrom: nobody", "o" * 300)


def taken_over(harness: Harness, *records: Any) -> ConvertReport:
    """Copy records from a mailbox in memory into a new mailbox."""
    harness.need(Capability.ADOPT)
    source = MemoryStore()
    source.append(*records)
    return convert(source, lambda: harness.create())


def contents(harness: Harness) -> tuple[Contents, dict[str, str]]:
    """Return the contents of the mailbox, and the text of each message."""
    with harness.open() as store:
        found = Contents(store)
        return found, {name: store.content(message) for name, message in found.messages.items()}


class AdoptingContract:
    """Tests of `adopt`."""

    def test_what_is_adopted_is_read_as_it_was(self, harness: Harness) -> None:
        texts = ["First.", "Two\nlines", "---\nFrom: nobody\n---\n  and more", "", "Ünïcödé \u2713"]
        messages = [message_record(f"m{at}", at, content=text) for at, text in enumerate(texts)]
        report = taken_over(harness, Agent(ANN), Agent(BOB), *messages, message_record("to-you", 9, recipient="user"))
        found, bodies = contents(harness)
        assert report.messages.copied == report.messages.there == len(found.messages) == len(texts) + 1
        assert [bodies[f"m{at}"] for at in range(len(texts))] == texts
        for at in range(len(texts)):
            message = found.messages[f"m{at}"]
            assert message.sender == BOB
            assert ANN in message.recipients
            assert message.time == 1_773_662_400 + at
        assert "user" in found.messages["to-you"].recipients
        assert {ANN, BOB} <= set(found.agents)
        assert not [problem for problem in found.problems if problem.fatal]

    def test_what_is_not_adopted_is_in_the_report(self, harness: Harness) -> None:
        mail = [
            message_record("m0"),
            message_record("m1", 1, thread="m0", type="odd", ttl_hours=1, recipient=[ANN, "cyd-00000001"]),
        ]
        report = taken_over(harness, Agent(ANN, role="librarian"), *mail, Receipt("m0", ANN))
        lost = {loss.field for loss in report.losses}
        found, _ = contents(harness)
        answer, agent = found.messages["m1"], found.agents[ANN]
        assert ("thread" in lost) is (answer.thread != "m0")
        assert ("type" in lost) is (answer.type != "odd")
        assert ("ttl hours" in lost) is (answer.ttl_hours != 1)
        assert ("subject" in lost) is (answer.subject != "About m1")
        assert ("agent's role" in lost) is (agent.role != "librarian")
        assert ("receipts" in lost) is (("m0", ANN) not in found.receipts)

    def test_names_that_lead_elsewhere_lead_nowhere(self, harness: Harness) -> None:
        harness.need(Capability.ADOPT)
        path = on_files(harness).path
        around = path.parent
        around.mkdir(parents=True, exist_ok=True)
        before = {path.name for folder in (around, around.parent) for path in folder.iterdir()} | {path.name}
        mail = [message_record(f"{at}{name}", at, sender=name, recipient=name) for at, name in enumerate(OUTSIDE)]
        tagged = [message_record(f"{at}#{name}", at, recipient=f"project:{name}") for at, name in enumerate(OUTSIDE)]
        agents = [Agent(name, tags=(f"project:{name}",)) for name in OUTSIDE]
        report = taken_over(harness, *agents, *mail, *tagged)
        assert {path.name for folder in (around, around.parent) for path in folder.iterdir()} <= before
        found, _ = contents(harness)
        assert not [problem for problem in found.problems if problem.fatal]
        lost = {loss.field: loss.number for loss in report.losses}
        assert lost.get("message", 0) == report.messages.there - report.messages.copied

    def test_a_kind_that_adopts_nothing_says_why(self, harness: Harness) -> None:
        if Capability.ADOPT in harness.capabilities:
            pytest.skip("it takes mail over")
        harness.make()
        with harness.open() as store, pytest.raises(Unsupported) as caught:
            store.adopt([])
        assert caught.value.remedy == harness.capabilities.why_not(Capability.ADOPT)
