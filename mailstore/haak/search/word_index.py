"""The index of a mailbox file: which words are in which parts of it; as a program, build or update it.

It is only a hint: a search scans the parts that it names and everything added later. The program runs without site
packages, so this module imports the standard library only.
"""

from __future__ import annotations

import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

FORMAT = b"signalbox words 2\n"
PART = 1 << 21
LEAST_BYTES = 1 << 26
"""A smaller file has no index: it is scanned in a tenth of a second."""
STALE_BYTES, MOST_STALE_BYTES = 1 << 22, 1 << 25
"""How much may be added to a file before its index is updated: a part in 32 of what is indexed, between these."""
MOST_MEMORY, WORD_MEMORY = 1 << 27, 200
"""Bytes that the words may take while an index is made, and what a word takes beside its characters.

An index ends before the part that brings more.
"""
WITNESS = 64
LETTERS = bytes(range(ord("a"), ord("z") + 1)) + b"0123456789"
TABLE = bytes(low[0] if (low := bytes([code]).lower()) in LETTERS else 32 for code in range(256))
HEX_DIGITS = b"0123456789abcdef"
"""WordIndex of these digits alone are left out: ids consist of them, and there are as many as messages."""
RUN = re.compile(rb"[a-z0-9]+")
ESCAPED = b"\\u"
CODE_LENGTH = 8
DIGITS = b"ABCDEFGHIJKLMNOP"
"""The digits of codes, which no word contains."""
INTO_CODE, FROM_CODE = bytes.maketrans(HEX_DIGITS, DIGITS), bytes.maketrans(DIGITS, HEX_DIGITS)


class WordIndex:
    """The words of a file up to `end`, each with the parts that contain it, as bits of a number."""

    def __init__(
        self, identity: tuple[int, int], starts: list[int], end: int, witness: bytes, *, is_full: bool = False
    ) -> None:
        self.identity = identity
        self.starts = starts
        self.end = end
        self.witness = witness
        self.is_full = is_full
        self.text = b"\n"
        """Each word with a code for its set of parts and a newline."""
        self.sets: list[int] = []

    def ranges(self, patterns: Sequence[bytes], others: Sequence[bytes]) -> list[tuple[int, int]] | None:
        """Return the ranges that may contain patterns or special characters, last first; None if unknown."""
        chunks = 0
        for pattern in patterns:
            runs = [run for run in RUN.findall(pattern) if run.strip(HEX_DIGITS)]
            if not runs:
                return None
            chunks |= self._holding(max(runs, key=len))
        for other in (ESCAPED, *others):
            chunks |= self._holding(b"\n" + other)
        ends = [*self.starts[1:], self.end]
        return [(self.starts[at], ends[at]) for at in range(len(ends) - 1, -1, -1) if chunks >> at & 1]

    def _holding(self, part: bytes) -> int:
        chunks, every = 0, (1 << len(self.starts)) - 1
        at = self.text.find(part)
        while at >= 0 and chunks != every:
            stop = self.text.find(b"\n", at + 1)
            chunks |= self.sets[_number(self.text[stop - CODE_LENGTH : stop])]
            at = self.text.find(part, stop)
        return chunks

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Yield each word and its parts."""
        for entry in self.text.split(b"\n")[1:-1]:
            yield entry[:-CODE_LENGTH], self.sets[_number(entry[-CODE_LENGTH:])]

    def fits(self, fd: int) -> bool:
        """Return whether this is the index of an open file that has only grown since."""
        facts = os.fstat(fd)
        is_same = (facts.st_dev, facts.st_ino) == self.identity and facts.st_size >= self.end
        return is_same and os.pread(fd, WITNESS, max(0, self.end - WITNESS))[: len(self.witness)] == self.witness


def _code(number: int) -> bytes:
    return (b"%08x" % number).translate(INTO_CODE)


def _number(code: bytes) -> int:
    return int(code.translate(FROM_CODE), 16)


LONGEST = 1 << 26
"""Bytes; a longer line is no record, and is not indexed."""


def is_stale(words: WordIndex | None, size: int) -> bool:
    """Return whether an index should be built or updated for a file of some size."""
    if words is None:
        return size >= STALE_BYTES
    return not words.is_full and size - words.end >= max(STALE_BYTES, min(words.end >> 5, MOST_STALE_BYTES))


def load(path: str) -> WordIndex | None:
    """Load an index; None if it is missing, damaged or of another version."""
    try:
        with open(path, "rb") as file:
            if file.readline() != FORMAT:
                return None
            device, inode, end, is_full, width, length, number, *starts = map(int, file.readline().split())
            words = WordIndex((device, inode), starts, end, file.read(min(WITNESS, end)), is_full=bool(is_full))
            words.text = file.read(length)
            sets = file.read(width * number)
            words.sets = [int.from_bytes(sets[at : at + width], "little") for at in range(0, len(sets), width)]
            return words if file.read() == b"end" and len(words.sets) == number else None
    except (OSError, ValueError):
        return None


def _save(path: str, words: WordIndex, known: dict[bytes, int]) -> None:
    codes: dict[int, int] = {}
    entries = [word + _code(codes.setdefault(parts, len(codes))) for word, parts in known.items()]
    words.text = b"\n".join([b"", *entries, b""])
    width = len(words.starts) // 8 + 1
    numbers = (*words.identity, words.end, words.is_full, width, len(words.text), len(codes), *words.starts)
    new = f"{path}.new"
    with open(new, "wb") as file:
        file.write(FORMAT + b" ".join(b"%d" % number for number in numbers) + b"\n" + words.witness + words.text)
        file.write(b"".join(parts.to_bytes(width, "little") for parts in codes) + b"end")
    os.replace(new, path)  # noqa: PTH105


def _promptly(path: str, flags: int) -> int:
    """Open a file that the caller found to be a regular one; nothing is waited for if it no longer is."""
    return os.open(path, flags | os.O_NONBLOCK)


def make(mailbox: str, path: str, escape: bytes, specials: Sequence[bytes]) -> None:
    """Build or update the index of a file, unless another program is doing so."""
    import fcntl

    with open(f"{path}.lock", "wb") as lock, open(mailbox, "rb", opener=_promptly) as file:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        escapes = re.compile(escape)
        fd = file.fileno()
        facts = os.fstat(fd)
        words = load(path)
        if words is not None and not words.fits(fd):
            words = None
        if not is_stale(words, facts.st_size):
            return
        words = words or WordIndex((facts.st_dev, facts.st_ino), [], 0, b"")
        known = dict(words.items())
        memory = _memory_of(known)
        while len(data := os.pread(fd, PART, words.end)) == PART and words.end < facts.st_size:
            while not (stop := data.rfind(b"\n") + 1) and words.end + len(data) < facts.st_size and len(data) < LONGEST:
                data += os.pread(fd, PART, words.end + len(data))
            data = data[:stop]
            if not data:
                break
            words_here = set(_words_in(data, escapes, specials))
            memory += _memory_of(words_here - known.keys())
            if memory > MOST_MEMORY:
                words.is_full = True
                break
            bit = 1 << len(words.starts)
            for word in words_here:
                known[word] = known.get(word, 0) | bit
            words.starts.append(words.end)
            words.end += len(data)
            words.witness = os.pread(fd, min(WITNESS, words.end), max(0, words.end - WITNESS))
        _save(path, words, known)


def _memory_of(words: Collection[bytes]) -> int:
    return sum(map(len, words)) + WORD_MEMORY * len(words)


def _words_in(data: bytes, escapes: re.Pattern[bytes], specials: Sequence[bytes]) -> Iterator[bytes]:
    for word in set(data.translate(TABLE).split()):
        if word.strip(HEX_DIGITS):
            yield word
    if escapes.search(data.lower()):
        yield ESCAPED
    if not data.isascii():
        yield from (special for special in specials if special in data)


if __name__ == "__main__":
    import ast

    os.nice(19)
    make(*ast.literal_eval(sys.argv[1]))
