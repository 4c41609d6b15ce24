"""A folder with a tree for each transport: one mailbox, in which a message that came by several ways is one message."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from mailstore.conformance.following import following, of, scanned
from mailstore.errors import DraftRefused
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.records.draft import draft
from mailstore.records.events import Reset
from mailstore.records.scope import parts_of
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from tests.kinds.agentazall.agentazall_mail import DAY, AgentAZAllMail

FIXTURES = Path(__file__).parents[2] / "fixtures"
TREES = FIXTURES / "agentazall-trees"
"""What the real program wrote: one message with a file, sent by e-mail and by FTP, which came both ways."""
MESSAGE, FIGURES = "12f82ba4101f", "figures.csv"
NOW = 1_800_000_000.0


def folded(store: AgentAZAllStore) -> Mailbox:
    mailbox = Mailbox()
    mailbox.fold(scanned(store), NOW)
    return mailbox


def messages_of(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.txt"))


def test_a_message_that_came_by_two_transports_is_one_with_all_its_places() -> None:
    with open_store(TREES) as store:
        assert isinstance(store, AgentAZAllStore)
        mailbox = folded(store)
        [item] = mailbox.messages()
        assert list(mailbox.places(item.id)) == messages_of(TREES)
        assert not mailbox.problems
        assert not mailbox.duplicates
        assert [agent.session_id for agent in mailbox.roster] == ["alice@localhost", "bob@localhost"]
        assert mailbox.deliveries(item.id) == ["bob@localhost"]
        assert store.content(item) == "The same words by e-mail and by FTP."
        assert "signature:valid" in item.tags
        [file] = store.attachments(item, mailbox.places(item.id))
        with store.open_attachment(item, FIGURES) as opened:
            assert len(opened.read()) == file.size
        assert [fact.value for fact in store.describe_agent("bob@localhost") if fact.name == "tree"] == [
            "email/bob/data/mailboxes",
            "ftp/bob/data/mailboxes",
        ]


def test_agents_with_a_root_each_below_their_transport_are_one_mailbox_too() -> None:
    with open_store(FIXTURES / "agentazall-roots") as store:
        assert isinstance(store, AgentAZAllStore)
        mailbox = folded(store)
    assert sorted(message.subject for message in mailbox.messages()) == [
        *("By mail", "Ping", "Ping", "Plan", "Re: By mail", "Re: Plan")
    ]
    assert {len(mailbox.places(message.id)) for message in mailbox.messages()} == {2, 3}


@pytest.mark.parametrize("names", [("email",), ("email", "post"), ("one", "other")])
def test_other_folders_of_mailboxes_stay_several(names: tuple[str, ...], tmp_path: Path) -> None:
    for name in names:
        AgentAZAllMail(tmp_path / name).agent("ann@localhost")
    assert not AgentAZAllStore.recognise(tmp_path)
    with open_store(tmp_path) as store:
        assert sorted(parts_of(store.url)) == sorted(names)


def test_what_comes_in_any_tree_comes_and_a_tree_may_come_later(tmp_path: Path) -> None:
    relay, email = AgentAZAllMail(tmp_path / "relay"), AgentAZAllMail(tmp_path / "email")
    relay.message("ann@localhost/inbox", "first")
    email.agent("ann@localhost")

    async def run() -> None:
        with AgentAZAllStore.open(tmp_path) as store:
            scanned(store)
            async with following(store) as came:
                email.message("ann@localhost/inbox", "second")
                await came.until_message("second")
                relay.message("zoe@localhost/inbox", "third")
                await came.until_message("third")
                # the same file in another tree is another copy of the same message
                shutil.copy(relay.root / "ann@localhost" / DAY / "inbox" / "first.txt", email.root / "ann@localhost")
                email.message("ann@localhost/inbox", "first")
                email.message("ann@localhost/inbox", "fourth")
                await came.until_message("fourth")
                assert not of(Reset, came.events)
                mailbox = folded(AgentAZAllStore.open(tmp_path))
                assert len(mailbox.places("first")) == 2

    asyncio.run(run())
    ftp = AgentAZAllMail(tmp_path / "ftp")
    ftp.message("ann@localhost/inbox", "fifth")
    with AgentAZAllStore.open(tmp_path) as store:
        assert "fifth" in folded(store)


def test_a_message_is_written_in_the_tree_of_its_recipients(tmp_path: Path) -> None:
    relay, email = AgentAZAllMail(tmp_path / "relay"), AgentAZAllMail(tmp_path / "email")
    relay.agent("ann@localhost")
    for agent in ("ann@localhost", "bob@localhost"):
        email.agent(agent)
    (relay.root / "zoe@localhost" / DAY / "inbox").mkdir(parents=True)
    with AgentAZAllStore.open(tmp_path) as store:
        sent = store.send(draft(sender="user", recipients=("bob@localhost", "ann@localhost"), content="To both."))
        assert sent.location is not None
        assert sent.location.file.startswith("email/data/mailboxes/human@localhost/")
        assert store.content(sent) == "To both."
        assert len(list(email.root.rglob(f"{sent.id}.txt"))) == 3
        assert not list(relay.root.rglob(f"{sent.id}.txt"))
        with pytest.raises(DraftRefused, match="no tree of this mailbox holds together"):
            store.send(draft(sender="user", recipients=("bob@localhost", "zoe@localhost"), content="To both."))
