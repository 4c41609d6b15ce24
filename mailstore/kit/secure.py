"""Encryption of a connection with the server's certificate checked, and clear words for a connection that fails."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from mailstore.errors import MailError, reason_of

EXPIRED, NOT_YET_VALID, REVOKED = 10, 9, 23
UNKNOWN_AUTHORITY = frozenset({2, 18, 19, 20, 21})
OTHER_HOST = frozenset({62, 64})
"""What OpenSSL calls the ways in which a certificate fails (openssl-verification-options(1))."""
NOT_TLS = frozenset(
    {"WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"}
)
UNREACHABLE = frozenset({errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN})
LONGEST_SAID = 200
HIDDEN = "***"


class TransportDown(MailError):
    """The other side can't be reached, or ended the exchange: the message is tried again later."""


class Remedies(NamedTuple):
    """How what depends on the program is fixed: who tries again, what can be set."""

    again: str = "; it is tried again"
    longer: str = ", or allow more seconds"
    authority: str = "name that authority's certificate as ca_file"


TRANSPORT = Remedies()


def tls_context(ca_file: Path | None = None, setting: str = "ca_file") -> ssl.SSLContext:
    """Return a context that checks a server's certificate, its dates and its host name.

    Trusted are the system's authorities, or only those of a file in PEM form, which `setting` names. Raises
    TransportDown if it can't be read.
    """
    try:
        return ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
    except (OSError, ValueError) as error:
        why = "it holds no certificate" if isinstance(error, ssl.SSLError) else reason_of(error)
        raise TransportDown(
            f"{setting} {ca_file} can't be used ({why})", "name a file of certificates in PEM", "E567"
        ) from None


def down_by(
    error: BaseException, label: str, secrets: Iterable[str] = (), remedies: Remedies = TRANSPORT
) -> TransportDown:
    """Return why a connection failed, and how to fix it, without secrets. `label` names the account.

    An error that is a TransportDown already is returned as it is.
    """
    if isinstance(error, TransportDown):
        return error
    problem, remedy = _words(error, remedies)
    return TransportDown(f"{label} {_without(problem, secrets)}", remedy)


def said(text: bytes | str, secrets: Iterable[str] = ()) -> str:
    """Return what a server said as one short line in quotation marks, with no control characters and no secrets."""
    found = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    words = " ".join("".join(sign if sign.isprintable() else " " for sign in found[: 8 * LONGEST_SAID]).split())
    words = _without(words, secrets)
    return f'"{words[:LONGEST_SAID]}…"' if len(words) > LONGEST_SAID else f'"{words}"'


def _without(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    return text


def _words(error: BaseException, remedies: Remedies) -> tuple[str, str]:
    match error:
        case ssl.SSLCertVerificationError():
            return _certificate(error, remedies)
        case ssl.SSLError() if error.reason in NOT_TLS:
            return "does not speak TLS on this port", "check port and security in the settings"
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            return "ended the connection", f"look at the server's log{remedies.again}"
        case ssl.SSLError():
            return f"failed to set up TLS ({error.reason or 'no reason given'})", "check port and security"
        case TimeoutError():
            return "does not answer", f"check the network and the server{remedies.longer}"
        case ConnectionRefusedError():
            return "refuses connections", "start the server, or check host and port"
        case socket.gaierror():
            return "can't be found by its name", "check the host, and the network's name server"
        case ConnectionError() | EOFError():
            return "ended the connection", f"look at the server's log{remedies.again}"
        case OSError() if error.errno in UNREACHABLE:
            return f"can't be reached ({reason_of(error)})", "check the network"
        case Exception():
            return f"failed ({said(reason_of(error))})", f"look at the server's log{remedies.again}"
        case _:
            return "was interrupted", "it is tried again"


def _certificate(error: ssl.SSLCertVerificationError, remedies: Remedies) -> tuple[str, str]:
    code = error.verify_code
    if code == EXPIRED:
        return "shows an expired certificate", "renew it on the server, or check this machine's clock"
    if code == NOT_YET_VALID:
        return "shows a certificate that is not valid yet", "check this machine's clock"
    if code == REVOKED:
        return "shows a revoked certificate", "replace it on the server"
    if code in OTHER_HOST:
        return "shows a certificate for another host", "use a host name that the certificate holds"
    if code in UNKNOWN_AUTHORITY:
        return "shows a certificate of an unknown authority", remedies.authority
    return f"shows a certificate that can't be trusted ({said(error.verify_message)})", "replace it on the server"
