"""Records that the suite writes, with the field names of docs/semantics.md#records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from mailstore.conformance.harness import Harness
from mailstore.records.draft import Draft

ANN, BOB = "ann-00000001", "bob-00000001"
START = datetime(2026, 3, 16, 12, tzinfo=UTC)


def at(second: int) -> str:
    """Return a time stamp, in seconds after the start of the suite's sample mail."""
    return (START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def message_record(message_id: str, second: int = 0, **more: Any) -> dict[str, Any]:
    """Return a message's fields; a field given as None is left out."""
    fields = {
        "id": message_id,
        "sender": BOB,
        "recipient": ANN,
        "timestamp": at(second),
        "content": f"The text of {message_id}.",
        "subject": f"About {message_id}",
        **more,
    }
    return {name: value for name, value in fields.items() if value is not None}


def sent_messages(harness: Harness, count: int, **more: Any) -> list[str]:
    """Append messages `m0`, `m1`, … a second apart; return their ids."""
    names = [f"m{number}" for number in range(count)]
    for number, name in enumerate(names):
        harness.message(message_record(name, number, **more))
    return names


def agent(session_id: str, **more: Any) -> dict[str, Any]:
    """Return an agent's fields."""
    return {"session_id": session_id, "status": "living", "role": "", "tags": [], **more}


def hello(harness: Harness, content: str = "Hello.") -> Draft:
    """Return a short message to Bob."""
    return harness.draft(recipients=(BOB,), content=content, audience=(BOB,))
