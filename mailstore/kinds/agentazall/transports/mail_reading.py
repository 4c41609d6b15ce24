"""Read a message from an e-mail: whom from, whom to, its text as it was signed, and its attachments."""

from __future__ import annotations

import re
from email.utils import getaddresses, parsedate_to_datetime

from mailstore.kinds.agentazall.transports.mail_parsing import (
    CONTROL,
    DamagedMail,
    MailHeader,
    MailPart,
    decoded,
    decoded_words,
    header_of,
    parameter,
    parts_of,
)
from mailstore.kinds.agentazall.transports.transport import IncomingMessage

ID_FIELD, THREAD_FIELD = "X-AgentAZAll-ID", "X-AgentAZAll-Thread"
NO_SENDER = "unknown@invalid"
"""Who has sent an e-mail that doesn't say; no such address can exist (RFC 2606)."""
ONLY_HTML = "(This e-mail has no plain text. Its HTML is attached.)"
OWN_REFERENCE = re.compile(r"<([0-9a-f]{12})@[^<>@\s]*>")
SIGNED = "---BEGIN AGENTAZALL SIGNED MESSAGE---"
LONGEST_ID = LONGEST_NAME = 255
LONGEST_ADDRESS = 320


def sender_in(header: MailHeader) -> str:
    """Return who has sent an e-mail, as an address without a name."""
    for field in ("from", "sender", "return-path"):
        for address in _addresses(header.get(field)):
            return address
    return NO_SENDER


def message_in(data: bytes, key: str, arrived: float | None = None) -> IncomingMessage:
    """Return the message that an e-mail holds. Raises DamagedMail.

    The body has LF as its line ends and is otherwise what was sent; base64 that holds a signature is kept to the byte.
    """
    if not data.strip():
        raise DamagedMail("it is empty")
    header = header_of(data)
    body, attachments = _contents(parts_of(data))
    copies = _addresses(header.get("cc"))
    return IncomingMessage(
        key=key,
        sender=sender_in(header),
        recipients=tuple(dict.fromkeys((*_addresses(header.get("to")), *copies))),
        copies=copies,
        subject=decoded_words(header.get("subject")),
        date=decoded_words(header.get("date"), 100),
        body=body,
        id=decoded_words(header.get(ID_FIELD.lower()), LONGEST_ID),
        thread=_thread(header),
        arrived=_received(header) if arrived is None else arrived,
        attachments=attachments,
    )


def _addresses(field: str) -> tuple[str, ...]:
    try:
        addresses = getaddresses([field])
    except (ValueError, IndexError, RecursionError):
        raise DamagedMail("its addresses can't be read") from None
    bare = (CONTROL.sub("", address).strip()[:LONGEST_ADDRESS] for _, address in addresses)
    return tuple(dict.fromkeys(address for address in bare if address))


def _thread(header: MailHeader) -> str:
    if named := decoded_words(header.get(THREAD_FIELD.lower()), LONGEST_ID):
        return named
    reference = OWN_REFERENCE.match(header.get("in-reply-to"))
    return reference[1] if reference else ""


def _received(header: MailHeader) -> float | None:
    """Return when the last server took the e-mail in, as it says itself."""
    try:
        return parsedate_to_datetime(header.get("received").rpartition(";")[2].strip()).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None


def _contents(parts: list[MailPart]) -> tuple[str, tuple[tuple[str, bytes], ...]]:
    texts: list[str] = []
    files: list[tuple[str, bytes]] = []
    is_alone = len(parts) == 1
    for part in parts:
        if part.kind == "text/plain" and not part.is_attachment:
            texts.append(_text(part, is_alone=is_alone))
        elif part.kind == "text/html" and not part.is_attachment:
            files.append(("message.html", part.data))
        else:
            files.append((part.name[:LONGEST_NAME] or f"attachment-{len(files) + 1}{part.extension}", part.data))
    if not texts and any(name == "message.html" for name, _ in files):
        texts.append(ONLY_HTML)
    return "\n".join(texts), tuple(files)


def _text(part: MailPart, *, is_alone: bool) -> str:
    text = decoded(part.data, parameter(part.header.get("content-type"), "charset") or "utf-8")
    if part.is_exact:
        return text if SIGNED in text else text.replace("\r\n", "\n")
    text = text.replace("\r\n", "\n")
    # a line end is added to every e-mail whose text has none at its end
    return text.removesuffix("\n") if is_alone else text
