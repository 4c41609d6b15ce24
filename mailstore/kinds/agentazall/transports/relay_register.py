"""Register an agent with a relay: it answers with a token, once."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mailstore.kinds.agentazall.transports.relay_http import RelayHttp, refusal_of
from mailstore.kinds.agentazall.transports.relay_wire import agent_of, decode
from mailstore.kinds.agentazall.transports.transport import LetterRefused
from mailstore.kit.secret import Secret
from mailstore.kit.secure import TransportDown

MOST_ANSWER = 1 << 16
SECONDS = 60.0
LONGEST_TOKEN = 1000


class Registration(msgspec.Struct, frozen=True):
    """An agent's address on a relay, and its token, which the relay gives only once."""

    address: str
    secret: Secret


def register(server: str, name: str, *, ca_file: Path | None = None, allow_plain: bool = False) -> Registration:
    """Register a name with a relay. Raises TransportDown, LetterRefused for a name that it refuses, and MailError."""
    http = RelayHttp(server, ca_file=ca_file, allow_plain=allow_plain)
    try:
        answer = http.exchange(
            "POST", "/register", value={"agent_name": agent_of(name)}, most=MOST_ANSWER, seconds=SECONDS
        )
    finally:
        http.close()
    if answer.status == 400:
        raise LetterRefused(f"relay {http.place} refuses the name {name!r}", "use 3 to 30 of a-z, 0-9, _ and -")
    if not 200 <= answer.status < 300:
        raise refusal_of(answer, http.place, "this relay does not register agents")
    value = decode(answer.body)
    found = value if isinstance(value, dict) else {}
    address, token = found.get("agent_address"), found.get("api_token")
    if not isinstance(token, str) or not isinstance(address, str) or not 0 < len(token) <= LONGEST_TOKEN:
        raise TransportDown(f"{http.place} does not answer as a relay", "check the server's URL")
    if not (token.isascii() and token.isprintable()) or " " in token or agent_of(address) != agent_of(name):
        raise TransportDown(f"{http.place} registered something else than {name!r}", "check the server's URL")
    return Registration(address, Secret.of(token))
