"""Messages as situations at the act scale: actors and a materialization each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from console.export.about import About, claim_of
from console.render.json_output import json_text
from console.render.safe import visible, visible_line
from mailstore.transfer.export import Exported

USUAL = "-_.:@#"
"""What stands in a name as it is, beside letters and digits; all else is percent-encoded."""
INDENT = "    "
URN = "urn:signalbox:"
CONTEXT: dict[str, Any] = {
    "@vocab": URN,
    "situation": f"{URN}situation:",
    "agent": f"{URN}agent:",
    "person": f"{URN}person:",
    "actor": {"@type": "@id"},
    "addressee": {"@type": "@id"},
    "inReplyTo": {"@type": "@id"},
}


def situation(message_id: str) -> str:
    """Return the name of a message's situation."""
    return f"situation:mailbox-msg-{quote(message_id, USUAL, errors='replace')}"


def actor(name: str) -> str:
    """Return the name of an actor: an agent, or the user."""
    return f"{'person' if name == 'user' else 'agent'}:{quote(name, USUAL, errors='replace')}"


def _actors(message: Exported) -> list[str]:
    return [actor(message.sender), *(actor(name) for name in message.states if name != message.sender)]


def as_situations(messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render each message in the form that a librarian ingests: an entity, and what belongs to it."""
    yield f"# situations of {visible_line(about.mailbox)}, {about.exported_at}: {visible_line(about.selection)}\n"
    yield from map(entity, messages)


def entity(message: Exported) -> str:
    """Return a message as an entity."""
    name = situation(message.id)
    shown = "\n".join(line.rstrip() for line in visible(message.content).rstrip("\n").split("\n"))
    facts = [
        ("type", "situation"),
        ("scale", "act"),
        ("time", visible_line(message.timestamp)),
        ("subject", visible_line(message.subject)),
        ("kind", visible_line(message.type)),
        ("addressed-to", visible_line(", ".join(message.recipients))),
        ("in-reply-to", situation(message.thread) if message.thread else ""),
        ("record", json_text(claim_of(message))),
    ]
    parts = [*((one, "actor") for one in dict.fromkeys(_actors(message))), ("message-content", "materialization")]
    width = max(len(one) for one, _ in parts)
    return "".join(
        (
            f"\nentity: {name}\n",
            *(f"  {field}: {value}\n" for field, value in facts if value),
            "\n",
            *(f'{one:<{width}}  belongs-to  {name}  quality: "{quality}"\n' for one, quality in parts),
            "\n",
            *(f"{INDENT}{line}".rstrip() + "\n" for line in shown.split("\n")),
        )
    )


def as_jsonld(messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render one JSON-LD document."""
    graph = [node(message) for message in messages]
    document = {"@context": CONTEXT, "mailbox": about.mailbox, "exportedAt": about.exported_at, "@graph": graph}
    yield json_text(document, indent=2) + "\n"


def node(message: Exported) -> dict[str, Any]:
    """Return a message as a node of the graph."""
    properties: dict[str, Any] = {
        "@id": situation(message.id),
        "@type": "Situation",
        "scale": "act",
        "startTime": message.timestamp,
        "actor": list(dict.fromkeys(_actors(message))),
        "addressedTo": list(message.recipients),
        "materialization": {
            "@type": "Materialization",
            "name": message.subject,
            "text": message.content,
        },
        "record": claim_of(message),
    }
    if message.type:
        properties["kind"] = message.type
    if message.thread:
        properties["inReplyTo"] = situation(message.thread)
    return properties
