"""What a server lets each user of a mailbox do: read all of it, and write only under their own name."""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec

from mailstore.kinds.nats.credentials import inbox_of
from mailstore.kinds.nats.subjects import Topic, mail_stream, presence_stream, subject, token_of
from mailstore.records.protocol import PERSON

OWN = (Topic.MAIL, Topic.READ, Topic.ROSTER, Topic.PRESENCE)
PERSONS = (Topic.MAIL, Topic.JOURNAL, Topic.PRESENCE)
ANYONES = (Topic.READ, Topic.ROSTER)
"""What the user may write for agents: settling their mail, and their entries in the roster."""
READING = (
    "$JS.API.STREAM.INFO.{0}",
    "$JS.API.STREAM.MSG.GET.{0}",
    "$JS.API.DIRECT.GET.{0}",
    "$JS.API.DIRECT.GET.{0}.>",
    "$JS.API.CONSUMER.CREATE.{0}",
    "$JS.API.CONSUMER.CREATE.{0}.>",
    "$JS.API.CONSUMER.INFO.{0}.*",
    "$JS.API.CONSUMER.MSG.NEXT.{0}.*",
    "$JS.API.CONSUMER.DELETE.{0}.*",
    "$JS.ACK.{0}.>",
    "$JS.FC.{0}.>",
)
"""What reading a stream takes; nothing of it changes, purges or deletes a stream or a message."""


class Grant(msgspec.Struct, frozen=True):
    """A user of the server, as it logs in, and the subjects that it may publish to and subscribe to."""

    user: str
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def grant_for(mailbox: str, name: str, *, inbox: str = "") -> Grant:
    """Return what an agent, or the user, may do in a mailbox; `inbox` is another name for its answers."""
    user = token_of(name)
    own = PERSONS if name == PERSON else OWN
    written = [subject(mailbox, topic, user) for topic in own]
    if name == PERSON:
        written += [subject(mailbox, topic, "*") for topic in ANYONES]
    streams = (mail_stream(mailbox), presence_stream(mailbox))
    read = [pattern.format(stream) for stream in streams for pattern in READING]
    return Grant(user, (*written, *read), (f"{inbox_of(inbox or user)}.>", subject(mailbox, "*", "*")))


def grant_for_mirror(mailbox: str, user: str, *, inbox: str = "") -> Grant:
    """Return what a program may do that carries everybody's records from another mailbox."""
    streams = (mail_stream(mailbox), presence_stream(mailbox))
    read = [pattern.format(stream) for stream in streams for pattern in READING]
    every = subject(mailbox, "*", "*")
    return Grant(user, (every, *read), (f"{inbox_of(inbox or user)}.>", every))


def server_users(grants: Iterable[Grant], logins: Iterable[str], admin: str) -> str:
    """Return the users of a server's configuration; `logins` says how each logs in, as its lines are written there.

    `admin` is a login without limits, with which mailboxes are made.
    """
    lines = ["authorization {", "  users = [", f"    {{ {admin} }}"]
    for grant, login in zip(grants, logins, strict=True):
        lines += [f"    {{ {login}", "      permissions: {"]
        for verb, subjects in (("publish", grant.publish), ("subscribe", grant.subscribe)):
            quoted = [f"          {json.dumps(each)}" for each in subjects]
            lines += [f"        {verb}: {{ allow: [", *quoted, "        ] }"]
        lines += ["      }", "    }"]
    return "\n".join([*lines, "  ]", "}"])
