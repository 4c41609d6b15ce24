"""Agents on other machines, whose addresses don't say so."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mailstore.errors import DraftRefused
from mailstore.kinds.agentazall.block import unwrapped
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.records.draft import Draft
from mailstore.state.mailbox import Mailbox
from tests.kinds.agentazall.agentazall_mail import told
from tests.kinds.agentazall.sync.rig import DAY, Machine, Office

ALICE, BOB, CAROL, HUMAN = "alice@localhost", "bob@localhost", "carol@localhost", "human@localhost"


def test_an_agent_to_whom_messages_are_carried_is_one_whatever_its_address(tmp_path: Path) -> None:
    office = Office()
    office.refuses = {BOB}
    here = Machine(tmp_path / "a", HUMAN, ALICE, offices=(office,))
    there = Machine(tmp_path / "b", CAROL, offices=(office,))
    here.write(ALICE, CAROL, "One")
    here.write(ALICE, BOB, "Nobody knows him")
    with AgentAZAllStore.open(here.root) as store:
        mailbox = Mailbox("user")
        for batch in store.scan():
            mailbox.fold(batch, time.time())
        assert len(mailbox.dead_letters(time.time())) == 2
        here.once()
        for batch in store.news():
            mailbox.fold(batch, time.time())
        [dead] = mailbox.dead_letters(time.time())
        assert store.content(dead.message) == "Nobody knows him"
        assert mailbox.roster.get(CAROL) is not None
        [carried] = [each for each in mailbox.messages() if each.recipients == (CAROL,)]
        assert not carried.is_tracked
        store.write_message(Draft(sender="user", recipients=(CAROL,), content="From the person"))
        with pytest.raises(DraftRefused, match="has no folder here"):
            store.write_message(Draft(sender="user", recipients=(BOB,), content="Hello"))
    here.once()
    there.once()
    assert [unwrapped(each) for each in there.bodies(CAROL)] == ["From the person", "One"]
    # a folder of that name is an agent of its own here, whose reads are recorded
    (here.root / CAROL / DAY / "inbox").mkdir(parents=True)
    assert all(each.is_tracked for each in told(here.root)[0].values() if CAROL in each.recipients)
