"""A small mailbox of every kind, and for each the commands that write to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from mailstore.conformance.harness import Harness
from tests.kinds.agent_mail.agent_mail_harness import AgentMailHarness
from tests.kinds.agentazall.agentazall_harness import AgentAZAllHarness
from tests.kinds.agenties.agenties_harness import AgentiesHarness
from tests.kinds.channels.channels_harness import ChannelsHarness
from tests.kinds.claude_teams.claude_teams_harness import ClaudeTeamsHarness
from tests.kinds.hcom.hcom_harness import HcomHarness
from tests.kinds.mapped.mapped_harness import MappedLinesHarness
from tests.kinds.neo.neo_harness import NeoHarness
from tests.kinds.omo.omo_harness import OmoHarness
from tests.mailboxes import iso
from tests.mailstore.haak_harness import HaakHarness

Make = Callable[[Path, pytest.MonkeyPatch], Harness]
DAY = 86_400.0
SENT = "Sent by the command."
ANN, BOB = "ann-00000001", "bob-00000001"

KINDS: dict[str, Make] = {
    "haak": lambda folder, patch: HaakHarness(folder, "table", patch),
    "haak-document": lambda folder, patch: HaakHarness(folder, "amendment", patch),
    "channels": lambda folder, patch: ChannelsHarness(folder),
    "agentazall": lambda folder, patch: AgentAZAllHarness(folder),
    "claude-teams": ClaudeTeamsHarness,
    "neo": NeoHarness,
    "agenties": lambda folder, patch: AgentiesHarness(folder),
    "agent-mail": AgentMailHarness,
    "hcom": HcomHarness,
    "omo": OmoHarness,
    "mapped": lambda folder, patch: MappedLinesHarness(folder),
}
TO = {"channels": BOB, "neo": "user"}


@contextmanager
def made(kind: str, folder: Path) -> Iterator[Harness]:
    """Make a mailbox of a kind in a folder: two agents, and eight messages over two months, one an answer."""
    with pytest.MonkeyPatch.context() as patch:
        box = KINDS[kind](folder, patch)
        box.make()
        now = time.time()
        for name in (ANN, BOB) if kind not in ("claude-teams", "omo") else ():
            box.agent({"session_id": name, "status": "living", "role": "reviewer", "tags": ["project:ink"]})
        for number in range(8):
            fields = {
                "id": f"m{number}",
                "sender": BOB,
                "recipient": TO.get(kind, ANN),
                "timestamp": iso(now - (40 - 5 * number) * DAY),
                "content": f"Message {number}.",
            }
            box.message(fields if number != 5 or kind in ("claude-teams", "agenties") else {**fields, "thread": "m4"})
        yield box
        close = getattr(box, "close", None)
        if close:
            close()


class Action(NamedTuple):
    """A command that writes: its words, the mailbox's URL and a folder beside it put in; what is run before it.

    `adds` says that it adds a message each time; else twice gives the same as once, or is refused where it `is_once`.
    """

    kind: str
    name: str
    words: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    adds: bool = False
    is_once: bool = False

    @property
    def makes_copy(self) -> bool:
        """Say whether it makes another mailbox."""
        return self.words[0] == "convert"


def _haak(kind: str) -> list[Action]:
    store = ("--store", "{url}")
    send = ("send", "--from", ANN, "--to", BOB, "--body", SENT, *store)
    message = ("send", "--from", BOB, "--to", ANN, "--body", "A message.", *store)
    redirect = ("dead-letters", "redirect", "m1", "--recipient", ANN, "--to", BOB, *store)
    return [
        Action(kind, "send", send, adds=True),
        Action(kind, "check", ("check", "--as", ANN, *store), before=(message,)),
        Action(kind, "mark-read", ("mark-read", "--as", ANN, "m1", "m2", *store)),
        Action(kind, "read --mark", ("read", "--as", ANN, "--mark", *store)),
        Action(kind, "register", ("roster", "register", "eve-00000001", "--role", "clerk", *store), is_once=True),
        Action(kind, "bury", ("roster", "bury", BOB, *store), is_once=True),
        Action(kind, "bye", ("bye", "--as", BOB, "--yes", *store), is_once=True),
        Action(kind, "presence", ("presence", "--as", ANN, "--state", "working", *store)),
        Action(kind, "redirect", redirect, is_once=True),
        Action(kind, "resend", ("dead-letters", "resend", "m1", "--ttl-hours", "5", *store), is_once=True),
        Action(kind, "acknowledge", ("dead-letters", "acknowledge", "m1", *store), is_once=True),
        Action(kind, "undo", ("dead-letters", "undo", *store), before=(redirect,), is_once=True),
        Action(kind, "archive", ("archive", "--yes", "--keep", "2", *store)),
        Action(
            kind,
            "mirror",
            ("mirror", "{beside}/other", "{url}", "--both", "--once"),
            before=(
                ("init", "{beside}/other"),
                ("roster", "register", ANN, "--role", "clerk", "--store", "{beside}/other"),
                ("send", "--from", ANN, "--to", "role:reviewer", "--body", SENT, "--store", "{beside}/other"),
                ("mark-read", "--as", ANN, "--all", "--store", "{beside}/other"),
            ),
        ),
        Action(
            kind,
            "archive again",
            ("archive", "--yes", "--keep", "1", *store),
            before=(("archive", "--yes", "--keep", "5", *store),),
        ),
    ]


def _convert(kind: str) -> Action:
    return Action("haak", f"convert to {kind}", ("convert", "{url}", f"{kind}:{{beside}}/copy"))


def _send(kind: str, to: str) -> Action:
    return Action(kind, "send", ("send", "user", to, "A subject", SENT, "--store", "{url}"), adds=True)


ACTIONS: list[Action] = [
    *_haak("haak"),
    *_haak("haak-document"),
    *map(_convert, ("haak", "channels", "agentazall", "agenties")),
    Action("channels", "presence", ("presence", "--as", ANN, "--state", "working", "--store", "{url}")),
    Action(
        "channels",
        "register",
        ("roster", "register", "eve-00000001", "--role", "clerk", "--store", "{url}"),
        is_once=True,
    ),
    Action("channels", "bury", ("roster", "bury", BOB, "--store", "{url}"), is_once=True),
    Action("channels", "send", ("send", "--from", "user", "--to", BOB, "--body", SENT, "--store", "{url}"), adds=True),
    Action(
        "agentazall",
        "send",
        ("send", "--from", "user", "--to", BOB, "--subject", "S", "--body", SENT, "--store", "{url}"),
        adds=True,
    ),
    Action(
        "claude-teams",
        "send",
        ("send", "--from", "user", "--to", ANN, "--body", SENT, "--store", "{url}"),
        adds=True,
    ),
    Action("omo", "send", ("send", "--from", "user", "--to", ANN, "--body", SENT, "--store", "{url}"), adds=True),
    Action(
        "neo",
        "send",
        ("send", "--from", "user", "--to", "@bob-00000001", "--body", SENT, "--store", "{url}"),
        adds=True,
    ),
    Action("neo", "mark-read", ("mark-read", "--as", "user", "--all", "--store", "{url}")),
]
