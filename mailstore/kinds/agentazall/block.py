"""The signed block in a body, as parsed by us and by the original program (docs/formats/agentazall.md#signatures)."""

from __future__ import annotations

import re
from typing import NamedTuple

BEGIN = "---BEGIN AGENTAZALL SIGNED MESSAGE---"
END = "---END AGENTAZALL SIGNED MESSAGE---"
SIGNATURE = "---BEGIN AGENTAZALL SIGNATURE---"
SIGNATURE_END = "---END AGENTAZALL SIGNATURE---"
MARKERS = (BEGIN, END, SIGNATURE, SIGNATURE_END)
BEGIN_LINE = re.compile(rf"(?:\A|(?<=\n)){BEGIN}(?=\r?\n)")


class Block(NamedTuple):
    """The outermost signed block: the text before and after it, its claimed key, and its contents."""

    before: str
    fingerprint: str
    public_key: str
    payload: str
    signature: str
    after: str
    is_nested: bool
    has_crlf: bool = False

    @property
    def is_all(self) -> bool:
        """Return whether there is no text outside the block."""
        return not (self.before.strip() or self.after.strip())


def is_marked(body: str) -> bool:
    return BEGIN in body and BEGIN_LINE.search(body) is not None


def block_of(body: str) -> Block | None:
    """Return the block from the first BEGIN to the last END with a signature; None if there is no complete one.

    The payload is the text after the first empty line, without the newline before END.
    """
    begin = BEGIN_LINE.search(body) if BEGIN in body else None
    if begin is None:
        return None
    line = "\r\n" if body.startswith("\r\n", begin.end()) else "\n"
    head_end = body.find(line * 2, begin.end())
    if head_end < 0:
        return None
    start = head_end + 2 * len(line)
    tail = f"{line}{END}{line}{SIGNATURE}{line}"
    end = body.rfind(tail, start)
    close = body.find(line + SIGNATURE_END, end + len(tail)) if end >= 0 else -1
    if close < 0:
        return None
    named = dict(_pair(part) for part in body[begin.end() : head_end].split(line))
    payload, after = body[start:end], body[close + len(line + SIGNATURE_END) :]
    return Block(
        before=body[: begin.start()],
        fingerprint=named.get("Fingerprint", ""),
        public_key=named.get("Public-Key", ""),
        payload=payload,
        signature=body[end + len(tail) : close],
        after=after,
        is_nested=BEGIN_LINE.search(payload) is not None or BEGIN_LINE.search(after) is not None,
        has_crlf=line != "\n",
    )


def unwrapped(body: str) -> str:
    """Return a body without the markers of its outermost block; text outside it is kept and marked."""
    block = block_of(body)
    if block is None:
        return body
    if block.is_all:
        return block.payload
    parts = [("not signed", block.before), ("signed", block.payload), ("not signed", block.after)]
    return "\n\n".join(f"[{what}:]\n{text.strip()}" for what, text in parts if text.strip())


def wrapped(body: str, fingerprint: str, public_key: str, signature: str) -> str:
    lines = (BEGIN, f"Fingerprint: {fingerprint}", f"Public-Key: {public_key}", "", body, END)
    return "\n".join((*lines, SIGNATURE, signature, SIGNATURE_END))


def as_upstream_reads(body: str) -> Block | None:
    """Return the block that the original program checks: up to the first END, stripped; None if unsigned for it."""
    body = body.replace("\r\n", "\n").replace("\r", "\n")
    _, begin, rest = body.partition(BEGIN)
    if not begin:
        return None
    inner, _, rest = rest.partition(END)
    head, _, payload = inner.strip().partition("\n\n")
    signature = rest.partition(SIGNATURE)[2].partition(SIGNATURE_END)[0]
    named = dict(_pair(part) for part in head.split("\n"))
    return Block("", named.get("Fingerprint", ""), named.get("Public-Key", ""), payload, signature.strip(), "", False)


def _pair(line: str) -> tuple[str, str]:
    key, _, value = line.partition(":")
    return key.strip(), value.strip()
