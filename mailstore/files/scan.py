"""Read the lines of a file and JSON in them, and write JSON, without any library that takes time to load."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["Unusual", "decoded", "encoded", "lines_of", "lines_with", "quoted"]

BLOCK = 1 << 20


class Unusual(Exception):
    """Something that only the complete decoder understands."""


def lines_of(path: str) -> Iterator[bytes]:
    """Yield a file's complete lines; none if there is no file. Raises OSError."""
    for block in _blocks(path):
        yield from block.split(b"\n")[:-1]


def _blocks(path: str) -> Iterator[bytes]:
    """Yield a file in blocks of complete lines."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below; pathlib takes longer than the reading
    except FileNotFoundError:
        return
    with file:
        held = b""
        while block := file.read(BLOCK):
            end = block.rfind(b"\n") + 1
            if end:
                yield held + block[:end]
                held = block[end:]
            else:
                held += block


def lines_with(path: str, needles: list[bytes]) -> Iterator[bytes]:
    """Yield a file's complete lines that contain any of some texts, each once."""
    for block in _blocks(path):
        found: dict[int, int] = {}
        for needle in needles:
            at = block.find(needle)
            while at >= 0:
                end = block.find(b"\n", at)
                found[block.rfind(b"\n", 0, at) + 1] = end
                at = block.find(needle, end)
        yield from (block[start:end] for start, end in sorted(found.items()))


def decoded(data: bytes, kind: type = dict) -> Any:
    """Decode bytes that are one JSON object, or one value of another type. Raises Unusual."""
    try:
        text = data.decode()
        if "\\ud" in text or "\\uD" in text:
            raise Unusual("perhaps an unpaired surrogate")
        value, end = _scan(text, 0)
    except (ValueError, StopIteration, RecursionError, SystemError) as error:
        # a SystemError: below Python 3.12 the scanner can't raise its own error before `json.decoder` is imported
        raise Unusual("no JSON") from error
    if not isinstance(value, kind) or text[end:].strip(" \t"):
        raise Unusual("no record by itself")
    return value


def encoded(value: Any) -> bytes:
    """Return what `decoded` returned as one line of JSON. Raises Unusual for what JSON can't express."""
    try:
        return "".join(_encode(value, 0)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Unusual("no JSON") from error


def _no_constant(name: str) -> Any:
    raise ValueError(name)


class _Context:
    """Settings of the scanner in the standard library's `json`, which itself imports ten times as much."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_no_constant)
    memo: dict[str, str] = {}  # noqa: RUF012


try:
    from _json import encode_basestring, make_encoder, make_scanner
    from _json import encode_basestring_ascii as quoted

    _scan = make_scanner(_Context())  # type: ignore[arg-type]
    _encode: Any = make_encoder(None, _no_constant, encode_basestring, None, ":", ",", False, False, False)
except (ImportError, AttributeError, TypeError):
    from json import JSONEncoder
    from json import dumps as quoted
    from json.scanner import py_make_scanner  # type: ignore[attr-defined]

    _scan = py_make_scanner(_Context())
    _encode = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).iterencode
