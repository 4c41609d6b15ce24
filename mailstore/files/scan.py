"""Read the lines of a file and JSON in them, and write JSON, without any library that takes time to load."""

from __future__ import annotations

from mailstore.files.whole import LARGEST, NotAFile, open_binary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = [
    "Unusual",
    "ascii_json",
    "decoded",
    "encoded",
    "lines_of",
    "lines_with",
    "quoted",
    "record_in",
    "texts_of",
    "torn",
]

BLOCK = 1 << 16
"""Bytes; the memory of larger ones is fetched from the system anew for each."""
ERRORS = (ValueError, StopIteration, RecursionError, SystemError)
"""A SystemError: below Python 3.12 the scanner can't raise its own error before `json.decoder` is imported."""


class Unusual(Exception):
    """Something that only the complete decoder understands."""


def lines_of(path: str) -> Iterator[bytes]:
    """Yield a file's complete lines; none if there is no file. Raises OSError."""
    for block in _blocks(path):
        yield from block.split(b"\n")[:-1]


def _blocks(path: str, start: int = 0) -> Iterator[bytes]:
    """Yield a file from an offset on, in blocks of complete lines."""
    try:
        file = open_binary(path, 0)
    except FileNotFoundError:
        return
    with file:
        file.seek(start)
        held: list[bytes] = []
        while block := file.read(BLOCK):
            end = block.rfind(b"\n") + 1
            if end:
                held.append(block[:end])
                yield b"".join(held)
                held = [block[end:]]
            else:
                held.append(block)
                if len(held) * BLOCK > LARGEST:
                    raise NotAFile("a line is longer than any record")


def lines_with(path: str, needles: list[bytes], start: int = 0) -> Iterator[bytes]:
    """Yield a file's complete lines from an offset on that contain any of some texts, each once."""
    for block in _blocks(path, start):
        lines: dict[int, int] = {}
        for needle in needles:
            at = block.find(needle)
            while at >= 0:
                end = block.find(b"\n", at)
                lines[block.rfind(b"\n", 0, at) + 1] = end
                at = block.find(needle, end)
        yield from (block[start:end] for start, end in sorted(lines.items()))


def texts_of(path: str, start: int = 0) -> Iterator[str | bytes]:
    """Yield a file's complete lines from an offset on: as text, or as bytes where others near them are not UTF-8.

    Raises OSError.
    """
    for block in _blocks(path, start):
        try:
            yield from block.decode().split("\n")[:-1]
        except UnicodeDecodeError:
            yield from block.split(b"\n")[:-1]


def record_in(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is, None for any other; what is taken of it must not be `torn`."""
    try:
        value, end = _scan(text, 0)
    except ERRORS:
        return None
    return value if type(value) is dict and (end == len(text) or not text[end:].strip(" \t")) else None


def torn(value: Any) -> bool:
    """Say whether a decoded value holds half of a surrogate pair, which other decoders refuse."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return True
        return False
    parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(torn, parts))


def decoded(data: bytes, kind: type = dict) -> Any:
    """Decode bytes that are one JSON object, or one value of another type. Raises Unusual."""
    try:
        text = data.decode()
        value, end = _scan(text, 0)
        is_torn = "\\u" in text and torn(value)
    except ERRORS as error:
        raise Unusual("no JSON") from error
    if is_torn or not isinstance(value, kind) or text[end:].strip(" \t"):
        raise Unusual("no record by itself")
    return value


def encoded(value: Any) -> bytes:
    """Return what `decoded` returned as one line of JSON. Raises Unusual for what JSON can't express."""
    try:
        return "".join(_encode(value, 0)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Unusual("no JSON") from error


def ascii_json(value: Any) -> str:
    """Return dicts, lists, tuples, texts, numbers and truth values as JSON in ASCII. Raises TypeError for any other."""
    return "".join(_encode_ascii(value, 0))


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _unknown(value: object) -> Any:
    raise TypeError(type(value).__name__)


class _Context:
    """Settings of the scanner in the standard library's `json`, which itself imports ten times as much."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_no_constant)
    memo: dict[str, str] = {}  # noqa: RUF012


try:
    from _json import encode_basestring, make_encoder, make_scanner
    from _json import encode_basestring_ascii as quoted

    _scan: Any = make_scanner(_Context())  # type: ignore[arg-type]
    _encode: Any = make_encoder(None, _no_constant, encode_basestring, None, ":", ",", False, False, False)
    _encode_ascii: Any = make_encoder(None, _unknown, quoted, None, ":", ",", False, False, False)
except (ImportError, AttributeError, TypeError):
    from json import JSONDecoder, JSONEncoder
    from json import dumps as quoted

    _scan = JSONDecoder(parse_constant=_no_constant).raw_decode
    _encode = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).iterencode
    _encode_ascii = JSONEncoder(default=_unknown, allow_nan=False, separators=(",", ":")).iterencode
