"""Turn a relay's status codes into errors."""

from __future__ import annotations

from typing import Literal

from mailstore.kinds.agentazall.transports.relay_http import RelayAnswer
from mailstore.kinds.agentazall.transports.relay_wire import decode
from mailstore.kinds.agentazall.transports.transport import LetterRefused
from mailstore.kit.secure import TransportDown, said

RefusalKind = Literal["down", "refused"]
REFUSALS: dict[int, tuple[RefusalKind, str, str]] = {
    400: ("refused", "the relay can't read this letter", ""),
    401: ("down", "the relay rejects this token", "register again, or mend the token in the settings"),
    403: ("down", "the relay does not allow this", "mend the token in the settings"),
    409: ("refused", "the name is taken on this relay", "choose another, or use the token that you got for it"),
    413: ("refused", "the letter is larger than the relay takes", "send less at once"),
    429: ("down", "the relay gets too many requests", "it is tried again later"),
    503: ("down", "the relay is not available", "it is tried again later"),
    507: ("down", "the recipient's inbox on the relay is full", "it is tried again later"),
}


def refusal_of(answer: RelayAnswer, place: str, unknown: str, token: str = "") -> TransportDown | LetterRefused:
    """Return the error for an answer's status; `unknown` is what a 404 means. The server's own words are quoted."""
    found = decode(answer.body)
    quoted = found.get("error") if isinstance(found, dict) else None
    words = said(quoted, [token]) if isinstance(quoted, str) else ""
    kind, problem, remedy = REFUSALS.get(answer.status, ("down", f"the relay answered {answer.status}", ""))
    if answer.status == 404:
        # a wrong URL says 404, too; the relay names the recipient or the agent
        is_relay = any(word in words.lower() for word in ("recipient", "agent", "account", "user"))
        kind, problem = ("refused", unknown) if is_relay else ("down", "this URL is not a relay's")
        remedy = "check the address" if is_relay else "check the server's URL"
    elif 300 <= answer.status < 400:
        problem, remedy = "the relay's URL has moved", "check the server's URL"
    text = f"{problem} ({place} says {words})" if words else f"{problem} ({place})"
    if answer.status in (429, 503) and answer.retry_after.isdecimal():
        remedy = f"it asks to wait {answer.retry_after[:6]} s"
    return (LetterRefused if kind == "refused" else TransportDown)(text, remedy)
