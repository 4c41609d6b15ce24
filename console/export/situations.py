"""Messages as situations at the act scale: actors and a materialization each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from console.export.about import About, claim_of, fields_digest, sealed
from console.render.json_output import json_text
from console.render.safe import visible, visible_line
from mailstore.transfer.export import Exported

__all__ = ["as_jsonld", "as_situations"]

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
    """Return the name of an actor: an agent, or the person."""
    return f"{'person' if name == 'user' else 'agent'}:{quote(name, USUAL, errors='replace')}"


def _actors(message: Exported) -> list[str]:
    return [actor(message.sender), *(actor(name) for name in message.states if name != message.sender)]


def as_situations(messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render each message in the form that a librarian ingests: an entity, and what belongs to it."""
    before = f"# situations of {visible_line(about.mailbox)}, {about.exported_at}: {visible_line(about.selection)}\n"
    for message in messages:
        name = situation(message.id)
        shown = "\n".join(line.rstrip() for line in visible(message.content).rstrip("\n").split("\n"))
        claim = claim_of(message, shown)
        facts = [
            ("type", "situation"),
            ("scale", "act"),
            ("time", visible_line(message.timestamp)),
            ("subject", visible_line(message.subject)),
            ("kind", visible_line(message.type)),
            ("addressed-to", visible_line(", ".join(message.recipients))),
            ("in-reply-to", situation(message.thread) if message.thread else ""),
            ("record", json_text(claim)),
        ]
        parts = [*((one, "actor") for one in dict.fromkeys(_actors(message))), ("message-content", "materialization")]
        width = max(len(one) for one, _ in parts)
        before += f"\nentity: {name}\n"
        before += "".join(f"  {field}: {value}\n" for field, value in facts if value)
        before += "\n"
        before += "".join(f'{one:<{width}}  belongs-to  {name}  quality: "{quality}"\n' for one, quality in parts)
        before += "\n" + "".join(f"{INDENT}{line}".rstrip() + "\n" for line in shown.split("\n"))
        yield sealed(before, claim)
        before = ""
    yield before


def as_jsonld(messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render one JSON-LD document."""
    graph = [_node(message) for message in messages]
    head = {"@context": CONTEXT, "mailbox": about.mailbox, "exportedAt": about.exported_at}
    for place, node in enumerate(graph):
        node["record"]["evidence_sha256"] = ""
        node["record"]["evidence_sha256"] = fields_digest({} if place else head, node)
    yield json_text({**head, "@graph": graph}, indent=2) + "\n"


def _node(message: Exported) -> dict[str, Any]:
    node: dict[str, Any] = {
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
        "record": claim_of(message, message.content),
    }
    if message.type:
        node["kind"] = message.type
    if message.thread:
        node["inReplyTo"] = situation(message.thread)
    return node
