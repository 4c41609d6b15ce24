"""Why a connection failed, in words."""

from __future__ import annotations

import errno
import socket
import ssl

import pytest

from mailstore.kit.secure import TransportDown, down_by, said


def rejected(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code, error.verify_message = code, "some \x1b[31mreason"
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (rejected(9), "ftp ann shows a certificate that is not valid yet: check this machine's clock"),
        (rejected(10), "shows an expired certificate: renew it on the server, or check this machine's clock"),
        (rejected(18), "shows a certificate of an unknown authority: name that authority's certificate as ca_file"),
        (rejected(23), "shows a revoked certificate: replace it on the server"),
        (rejected(64), "shows a certificate for another host: use a host name that the certificate holds"),
        (rejected(99), 'can\'t be trusted ("some [31mreason"): replace it on the server'),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "can't be reached (network is unreachable)"),
        (TimeoutError(), "does not answer: check the network and the server, or allow more seconds"),
        (BrokenPipeError(), "ended the connection: look at the server's log; it is tried again"),
        (socket.gaierror(-2, "Name or service not known"), "can't be found by its name: check the host"),
        (ValueError("login ann/s3cr3t\r\n\x1b]0;x"), 'failed ("login ann/*** ]0;x"): look at the server\'s log'),
    ],
)
def test_a_failure_is_told_with_how_to_mend_it(error: BaseException, words: str) -> None:
    found = down_by(error, "ftp ann", ["s3cr3t"])
    assert words in str(found)
    assert str(found).startswith("ftp ann ")


def test_what_is_down_already_is_told_once() -> None:
    error = TransportDown("it is down", "wait")
    assert down_by(error, "ftp ann") is error


def test_what_a_server_says_is_one_short_line() -> None:
    assert said(b"421 \xff\r\nbye\x00 pass-word", ["pass-word"]) == '"421 \ufffd bye ***"'
    assert said("x" * 10_000) == f'"{"x" * 200}…"'
