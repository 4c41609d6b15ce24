"""Messages as e-mails: what is written is read again to the byte, by us and by Python's own parser."""

from __future__ import annotations

from email import policy
from email.parser import BytesParser
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.kinds.agentazall.transports.mail_parsing import DamagedMail
from mailstore.kinds.agentazall.transports.mail_reading import message_in
from mailstore.kinds.agentazall.transports.mail_writing import checked_address, mail_bytes
from mailstore.kinds.agentazall.transports.transport import Attachment, MessageRefused, OutgoingMessage
from tests.kinds.agentazall.agentazall_mail import identity

MESSAGE = OutgoingMessage(
    "4d15c1f79f99", "ann@localhost", ("bob@localhost", "carol@localhost"), "Hello", "2026-11-20 20:46:47", "A body."
)
UNICODE = st.characters(codec="utf-8")
LINES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), max_size=120)


def sent(**changes: object) -> bytes:
    return mail_bytes(msgspec.structs.replace(MESSAGE, **changes), "ann@localhost")


@given(st.text(UNICODE, max_size=400), LINES)
def test_body_and_subject_survive(body: str, subject: str) -> None:
    data = sent(body=body, subject=subject)
    assert data.isascii()
    assert max(map(len, data.split(b"\r\n"))) <= 78
    assert b"\n" not in data.replace(b"\r\n", b"")
    found = message_in(data, "1")
    assert found.body == body.replace("\r\n", "\n")
    assert found.subject == subject.strip()
    theirs = BytesParser(policy=policy.default).parsebytes(data)
    assert theirs.get_payload(decode=True) == body.encode()
    assert not theirs.defects


@given(st.text(UNICODE, max_size=200))
def test_a_signed_body_survives_to_the_byte(body: str) -> None:
    signed = identity(1).signed(body)
    assert message_in(sent(body=signed), "1").body == signed


def test_every_header_survives() -> None:
    data = sent(copies=("carol@localhost",), thread="a1b2c3d4e5f6")
    found = message_in(data, "INBOX/1/7", 5.0)
    assert (found.key, found.id, found.thread, found.arrived) == ("INBOX/1/7", "4d15c1f79f99", "a1b2c3d4e5f6", 5.0)
    assert (found.sender, found.recipients, found.copies) == (
        "ann@localhost",
        ("bob@localhost", "carol@localhost"),
        ("carol@localhost",),
    )
    assert b"Message-ID: <4d15c1f79f99@localhost>" in data
    assert b"In-Reply-To: <a1b2c3d4e5f6@localhost>" in data
    assert found.date.startswith("Fri, 20 Nov 2026 ")


NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0", exclude_categories=["Cc"]), min_size=1, max_size=60
)


@given(st.lists(st.tuples(NAMES, st.binary(max_size=200)), min_size=1, max_size=4))
def test_attachments_survive_with_any_name(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[str, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("files")
    carried = []
    for number, (name, data) in enumerate(files):
        (folder / str(number)).write_bytes(data)
        carried.append(Attachment(name, folder / str(number)))
    data = sent(attachments=tuple(carried), body="See the files.\n")
    found = message_in(data, "1")
    assert found.body == "See the files.\n"
    assert [bytes_ for _, bytes_ in found.attachments] == [data for _, data in files]
    assert [name for name, _ in found.attachments] == [name for name, _ in files]
    theirs = BytesParser(policy=policy.default).parsebytes(data)
    assert [part.get_payload(decode=True) for part in theirs.iter_attachments()] == [data for _, data in files]


@pytest.mark.parametrize("field", ["subject", "id", "thread"])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\0"])
def test_a_header_can_t_be_injected(field: str, end: str) -> None:
    with pytest.raises(MessageRefused, match="control character"):
        sent(**{field: f"hello{end}From: boss@localhost"})


@pytest.mark.parametrize(
    "address", ["a\nb@x", "a\r\nRCPT TO:<c@x>", "a b@x", "<a@x>", "a@x>", "", "a@", "@x", "a" * 300]
)
def test_an_address_can_t_end_a_command(address: str) -> None:
    with pytest.raises(MessageRefused, match="is not an e-mail address"):
        checked_address(address)


@pytest.mark.parametrize("address", ["rita.agenttalk", "a.b+c@x.example", "jörg@bücher.example", "x'y@localhost"])
def test_unusual_addresses_are_taken(address: str) -> None:
    assert checked_address(address) == address
    assert message_in(sent(recipients=(address,)), "1").recipients == (address,)


def test_a_recipient_injects_nothing_into_the_header() -> None:
    with pytest.raises(MessageRefused, match="which is not an address"):
        sent(recipients=("bob@localhost", "x\nBcc: eve@x"))
    found = message_in(sent(recipients=("bob@localhost", 'Odd, "name"')), "1")
    assert found.recipients == ("bob@localhost", 'Odd, "name"')


def test_an_attachment_that_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    for path in (tmp_path / "link", tmp_path, tmp_path / "missing"):
        with pytest.raises(MessageRefused, match="attachment 'a'"):
            sent(attachments=(Attachment("a", path),))


HUMAN = b"""Received: from a by b; Fri, 20 Nov 2026 21:00:00 +0100\r
From: =?iso-8859-1?q?J=F6rg?= "the, boss" <joerg@x.example>\r
To: "Bob, of \xc3\xa4" <bob@localhost>,\r
 carol@localhost\r
Subject: =?utf-8?b?w6Q=?= =?utf-8?b?w7Y=?= and\r
 =?x-unknown?q?=41_b?= =?utf-8?q?line=0ABcc:_x?=\r
In-Reply-To: <4d15c1f79f99@localhost>\r
Content-Type: text/plain; charset=iso-8859-1\r
Content-Transfer-Encoding: quoted-printable\r
\r
gr=FC=DFe =\r
from Joerg\r
"""


def test_a_message_of_a_mail_program_is_read() -> None:
    found = message_in(HUMAN, "1")
    assert found.sender == "joerg@x.example"
    assert found.recipients == ("bob@localhost", "carol@localhost")
    assert found.subject == "äö and A bline Bcc: x"
    assert found.body == "grüße from Joerg"
    assert (found.id, found.thread, found.date) == ("", "4d15c1f79f99", "")
    assert found.arrived == 1795204800.0


def mixed(*parts: bytes, kind: bytes = b"mixed") -> bytes:
    body = b"".join(b"\r\n--b\r\n" + part for part in parts)
    return (
        b"From: a@x\r\nContent-Type: multipart/"
        + kind
        + b"; boundary=b\r\n\r\npreamble"
        + body
        + b"\r\n--b--\r\nend\r\n"
    )


def test_html_is_attached_and_never_hidden() -> None:
    html = b"Content-Type: text/html\r\n\r\n<p>Hi</p>"
    found = message_in(mixed(b"Content-Type: text/plain\r\n\r\nHi", html, kind=b"alternative"), "1")
    assert (found.body, found.attachments) == ("Hi", (("message.html", b"<p>Hi</p>"),))
    alone = message_in(b"From: a@x\r\nContent-Type: text/html\r\n\r\n<p>Hi</p>\r\n", "1")
    assert "HTML is attached" in alone.body
    assert alone.attachments == (("message.html", b"<p>Hi</p>\r\n"),)


def test_a_forwarded_mail_is_attached_whole() -> None:
    inner = b"From: c@x\r\nSubject: inner\r\n\r\nText"
    found = message_in(mixed(b"\r\nOuter", b"Content-Type: message/rfc822\r\n\r\n" + inner), "1")
    assert found.body == "Outer"
    assert found.attachments == (("attachment-1.eml", inner),)


def test_a_message_without_anything_is_a_message() -> None:
    for data in (b"\r\nText", b"no colon", b"\xff\xfe\0"):
        found = message_in(data, "1")
        assert (found.sender, found.recipients, found.date, found.arrived) == ("unknown@invalid", (), "", None)


def test_an_empty_file_is_no_message() -> None:
    for data in (b"", b"\r\n", b"\r\n\r\n"):
        with pytest.raises(DamagedMail, match="it is empty"):
            message_in(data, "1")


def test_parts_are_bounded() -> None:
    with pytest.raises(DamagedMail, match=r"more than 1,000 parts"):
        message_in(mixed(*[b"\r\nx"] * 1001), "1")
    nested = b"\r\nx"
    for number in range(25):
        mark = b"m%d" % number
        nested = b"Content-Type: multipart/mixed; boundary=" + mark + b"\r\n\r\n--" + mark + b"\r\n" + nested
    with pytest.raises(DamagedMail, match="nested more than 20 deep"):
        message_in(b"From: a@x\r\n" + nested, "1")


@pytest.mark.parametrize(
    "data",
    [
        b"From: " + b"(" * 100_000 + b"\r\n\r\nx",
        b"From: a@x\r\nSubject: " + b"=?a?q?" * 100_000 + b"\r\n\r\nx",
        b"From: a@x\r\nTo: " + b"a@x, " * 200_000 + b"\r\n\r\nx",
        b"A: b\r\n" * 500_000 + b"\r\nx",
        b"A: b\r\n " * 500_000 + b"\r\nx",
        b"From: a@x\r\nContent-Type: text/plain; charset=punycode\r\n\r\n" + b"a-b9c" * 100_000,
        b"From: a@x\r\nContent-Type: text/plain" + b"; a*0=b" * 100_000 + b"\r\n\r\nx",
        b"From: a@x\r\nContent-Type: multipart/mixed; boundary*" + b"9" * 5000 + b"*=b\r\n\r\nx",
        b"From: a@x\r\nContent-Type: multipart/mixed; boundary=-\r\n\r\n" + b"--" * 1_000_000,
        b"From: a@x\r\nContent-Transfer-Encoding: base64\r\n\r\n" + b"=" * 1_000_000,
    ],
    ids=range(10),
)  # fmt: skip
def test_hostile_mail_takes_no_time(data: bytes) -> None:
    try:
        message_in(data, "1")
    except DamagedMail:
        return


PIECES = (b"From: ", b"To: ", b"Subject: =?utf-8?b?", b"\r\n--b", b"\r\n\r\n", b"\r\n", b"b", b'"', b"<a@x>", b"--")
HEADS = st.sampled_from(
    [
        *PIECES,
        b"Content-Type: multipart/mixed; boundary=",
        b"Content-Type: text/plain; charset=",
        b"Content-Transfer-Encoding: base64\r\n",
        b"Content-Disposition: attachment; filename*=utf-8''",
    ]
)


@given(st.lists(HEADS | st.binary(max_size=20), max_size=30).map(b"".join))
def test_no_mail_is_too_odd_to_read(data: bytes) -> None:
    try:
        found = message_in(data, "1")
    except DamagedMail:
        return
    assert found.sender
    for text in (found.sender, found.subject, found.id, found.thread, found.date, *found.recipients):
        assert not any(ord(sign) < 0x20 for sign in text)
