"""Why a server can't be reached or refuses something, as a user needs it: what is wrong and how to fix it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence

from mailstore.errors import MailboxMissing, MailError, StoreError
from mailstore.kinds.nats.address import NatsAddress
from mailstore.kit.secure import Remedies, down_by

REMEDIES = Remedies(longer="", authority="set SIGNALBOX_NATS_CA to that authority's certificate")
NO_SERVER = ("is not a NATS server", "check the port")
NEEDS_TLS = ("takes connections with TLS only", "write nats+tls:// in place of nats://")
REFUSALS = {
    "authorization violation": ("refused the credentials", "check user, password, creds file or NKEY"),
    "user authentication expired": ("says that the credentials have expired", "ask for a new creds file"),
    "user authentication revoked": ("says that the credentials were revoked", "ask for a new creds file"),
    "account authentication expired": ("says that the account has expired", "ask for a new creds file"),
    "authentication timeout": ("took too long to check the credentials", "try again"),
    "no ssl context provided": NEEDS_TLS,
    "secure connection - tls required": NEEDS_TLS,
    "no tls offered": ("offers no TLS", "set up its TLS, or write nats:// if the mail may be read on its way"),
    "expecting info message": NO_SERVER,
    "json parse error": NO_SERVER,
    "permissions violation": ("does not let this user do that", "log in as the one who writes"),
    "maximum connections exceeded": ("has no room for another connection", "try again later"),
}
"""What the server or the client library says, in lower case, and what that means."""

TOO_FEW_SERVERS = frozenset({10005, 10074})
NO_JETSTREAM = frozenset({10039, 10076})
FULL = frozenset({10023, 10047, 10077})
"""What the server's numbers mean."""

GARBAGE = (ValueError, KeyError, TypeError, AttributeError, RecursionError, asyncio.LimitOverrunError)
"""What an answer raises that follows no protocol."""


def connection_failed(error: BaseException, address: NatsAddress) -> StoreError:
    """Return what to tell a user of an error that a connection to some servers met; it holds no secret."""
    if isinstance(error, MailError):
        return error if isinstance(error, StoreError) else StoreError(error.problem, error.remedy)
    where = address.shown_hosts
    if refusal := _refusal(error):
        return StoreError(f"{where} {refusal[0]}", refusal[1])
    down = down_by(error, where, remedies=REMEDIES)
    return StoreError(down.problem, down.remedy)


def request_refused(number: int, text: str, address: NatsAddress) -> StoreError:
    """Return what to tell a user of a request that a server refused, by the number that it gives its errors."""
    if number in TOO_FEW_SERVERS:
        return StoreError(
            f"{address.shown_hosts} can't keep so many replicas",
            "use fewer replicas, or a cluster of as many servers",
            "E409",
        )
    if number in NO_JETSTREAM:
        return StoreError(f"{address.shown_hosts} runs without JetStream", "turn it on for this account", "E410")
    if number in FULL:
        return StoreError(f"{address.shown_hosts} has no room left", "give JetStream more disk there", "E411")
    return StoreError(f"{address.shown_hosts} refuses ({text})", "look at the server's log", "E407")


def missing(address: NatsAddress) -> MailboxMissing:
    url = f"nats{'+tls' if address.is_tls else ''}:{address.location}"
    return MailboxMissing(
        f"no mailbox {address.mailbox} on {address.shown_hosts}", f"make one with signalbox init {url}", "E408"
    )


def is_final(error: BaseException) -> bool:
    """Say whether trying again can't help: credentials, certificates, or no NATS server at all."""
    return isinstance(error, ssl.SSLCertVerificationError) or _refusal(error) is not None


def most_telling(errors: Sequence[BaseException]) -> BaseException:
    """Return the error of several that says most: that one host refuses tells more than that others are silent."""
    return next((error for error in errors if is_final(error)), errors[-1])


def _refusal(error: BaseException) -> tuple[str, str] | None:
    if isinstance(error, OSError):
        return None
    text = str(error).lower()
    refusal = next((meaning for said, meaning in REFUSALS.items() if said in text), None)
    return NO_SERVER if refusal is None and isinstance(error, GARBAGE) else refusal
