"""Why a server can't be reached or refuses something, as a person needs it: what is wrong and how to mend it."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Sequence

from mailstore.errors import MailError, StoreError, reason_of

__all__ = ["connection_failed", "is_final", "most_telling"]

EXPIRED = 10
NOT_YET = 9
OTHER_NAME = (62, 64)
"""Codes of OpenSSL for a certificate: it expired, is not valid yet, or is for another host name or address."""

REFUSALS = {
    "authorization violation": ("the server refused the credentials", "check user, password, creds file or NKEY"),
    "user authentication expired": ("the credentials have expired", "ask for a new creds file"),
    "user authentication revoked": ("the credentials were revoked", "ask for a new creds file"),
    "account authentication expired": ("the account's credentials have expired", "ask for a new creds file"),
    "authentication timeout": ("the server took too long to check the credentials", "try again"),
    "no ssl context provided": ("the server takes connections with TLS only", "write nats+tls:// in place of nats://"),
    "secure connection - tls required": (
        "the server takes connections with TLS only",
        "write nats+tls:// in place of nats://",
    ),
    "expecting info message": ("what answers there is no NATS server", "check the port"),
    "json parse error": ("what answers there is no NATS server", "check the port"),
    "maximum connections exceeded": ("the server has no room for another connection", "try again later"),
    "no tls offered": ("the server offers no TLS", "write nats:// if it may be read on its way, or set up its TLS"),
}
"""What the server or the client library says, in lower case, and what that means."""

RANK = ("credentials", "certificate", "TLS", "NATS server")


def connection_failed(error: BaseException, hosts: Sequence[str]) -> StoreError:
    """Return what to tell a person of an error that a connection to one of some hosts met; it holds no secret."""
    if isinstance(error, MailError):
        return error if isinstance(error, StoreError) else StoreError(error.problem, error.remedy)
    where = ", ".join(hosts)
    problem, remedy = _meaning(error)
    return StoreError(f"{where}: {problem}", remedy)


def is_final(error: BaseException) -> bool:
    """Say whether trying again can't help: credentials, certificates, or no NATS server at all."""
    return any(word in _meaning(error)[0] for word in RANK)


def most_telling(errors: Sequence[BaseException]) -> BaseException:
    """Return the error of several that says most: that one host refuses tells more than that others are silent."""
    return next((error for error in errors if is_final(error)), errors[-1])


def _meaning(error: BaseException) -> tuple[str, str]:
    if isinstance(error, MailError):
        return error.problem, error.remedy
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate(error)
    if isinstance(error, ssl.SSLError):
        return "the TLS connection failed", "check that the server's port takes TLS"
    if isinstance(error, socket.gaierror):
        return "no such host is known", "check the name of the host"
    if isinstance(error, ConnectionRefusedError):
        return "no server answers", "start nats-server there, or check host and port"
    if isinstance(error, asyncio.TimeoutError):
        return "the server does not answer in time", "check that it runs and that no firewall is between"
    if isinstance(error, (EOFError, ConnectionError)):
        return "the server ended the connection", "look at its log"
    text = str(error).lower()
    for said, meaning in REFUSALS.items():
        if said in text:
            return meaning
    if isinstance(error, OSError):
        return f"the connection failed ({reason_of(error)})", "check host and port"
    if isinstance(error, (ValueError, KeyError, TypeError, AttributeError, asyncio.LimitOverrunError)):
        return REFUSALS["expecting info message"]
    return f"the connection failed ({_plain(error)})", "look at the server's log"


def _certificate(error: ssl.SSLCertVerificationError) -> tuple[str, str]:
    if error.verify_code == EXPIRED:
        return "the server's certificate has expired", "renew it there"
    if error.verify_code == NOT_YET:
        return "the server's certificate is not valid yet", "compare the clocks of both machines"
    if error.verify_code in OTHER_NAME:
        return "the server's certificate is for another host name", "use the name that it is for, or renew it there"
    return "the server's certificate is from an unknown authority", "set SIGNALBOX_NATS_CA to the authority's file"


def _plain(error: BaseException) -> str:
    return str(error).removeprefix("nats: ").strip("' ").lower()[:200] or type(error).__name__
