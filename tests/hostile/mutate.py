"""Damage as files meet it: by disks, by other programs, by hostile hands."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

NUMBERS = [
    b"9" * 25,
    b"-" + b"9" * 400,
    b"1" + b"0" * 4400,
    b"1e999",
    b"-1e-999",
    b"NaN",
    b"-Infinity",
    b"18446744073709551616",
]
STEERING = [
    "\x1b[2J",
    "\x9b31m",
    "\u202e",
    "\x07",
    "\x00",
    "\x7f",
    "\u2028",
    "\ufeff",
    "\u200b",
    "\U000e0041",
    "\ud800",
    "\r",
]
NOT_TEXT = [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x80", b"\xe2\x82"]
PAGE = 4096
VALUE = re.compile(rb'"(?:[^"\\\n]|\\.){0,200}"|-?\d[\d.eE+-]*|true|false|null')
BEFORE = re.compile(rb"[:=,\[]\s*$")


def _flip(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def _truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def _behead(data: bytes, rng: random.Random) -> bytes:
    return data[rng.randrange(len(data)) :]


def _slice(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    return data[start : start + rng.choice((1, 10, 100, 1000))]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    return _insert(data, _slice(data, rng) * rng.choice((1, 2, 50)), rng)


def _cut(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.choice((1, 5, 200)) :]


def _splice(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    piece = _slice(data, rng)
    return data[:start] + piece + data[start + len(piece) :]


def _not_text(data: bytes, rng: random.Random) -> bytes:
    return _insert(data, rng.choice(NOT_TEXT), rng)


def _steering(data: bytes, rng: random.Random) -> bytes:
    text = "".join(rng.choices(STEERING, k=rng.choice((1, 3))))
    if rng.random() < 0.5:
        return _insert(data, text.encode("utf-8", "surrogatepass"), rng)
    return _in_value(data, rng, lambda value: value[:1] + json.dumps(text)[1:-1].encode() + value[1:], is_text=True)


def _number(data: bytes, rng: random.Random) -> bytes:
    return _in_value(data, rng, lambda _: rng.choice(NUMBERS))


def _odd_value(data: bytes, rng: random.Random) -> bytes:
    odd = (
        b"null",
        b"[]",
        b"{}",
        b'""',
        b"true",
        b"-1",
        b'[[1],{"a":2}]',
        b'" "',
        b'{"text":"x"}',
        b'"\\u0000"',
        b'["user",null]',
    )
    return _in_value(data, rng, lambda _: rng.choice(odd))


def _nested(data: bytes, rng: random.Random) -> bytes:
    deep = rng.choice((50, 900, 100_000))
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    return _in_value(data, rng, lambda value: opening * deep + value + closing * (deep - rng.choice((0, 0, 1))))


def _glued(data: bytes, rng: random.Random) -> bytes:
    places = [at for at, byte in enumerate(data) if byte == 10]
    if not places:
        return data
    at = rng.choice(places)
    return data[:at] + rng.choice((b"", b" ", b",", b"\x00\x00", b"\r")) + data[at + 1 :]


def _shuffled(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


def _doubled(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"\n".join(lines)


def _long(data: bytes, rng: random.Random) -> bytes:
    return _in_value(
        data,
        rng,
        lambda value: value[:1] + rng.choice((b"x", b"{", b'{\\"', b"@a ", b"[")) * 20_000 + value[1:],
        is_text=True,
    )


def _brackets(data: bytes, rng: random.Random) -> bytes:
    return _insert(data, rng.choice((b'{"', b"[", b'{ "a":', b'{"a":[')) * rng.choice((3, 300, 20_000)), rng)


def _empty(data: bytes, rng: random.Random) -> bytes:
    return rng.choice((b"", b"\x00" * 512, b"\xef\xbb\xbf", b"\n\n\n", b"[]", b"{}"))


def _insert(data: bytes, piece: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + piece + data[at:]


def _in_value(data: bytes, rng: random.Random, change: Callable[[bytes], bytes], *, is_text: bool = False) -> bytes:
    """Put something else in the place of one value, JSON or not."""
    found = [it for it in VALUE.finditer(data) if BEFORE.search(data, max(0, it.start() - 4), it.start())]
    found = [it for it in found if not is_text or it[0].startswith(b'"')]
    if not found:
        return data
    chosen = rng.choice(found)
    return data[: chosen.start()] + change(chosen[0]) + data[chosen.end() :]


MUTATIONS = (
    _flip,
    _truncate,
    _behead,
    _repeat,
    _cut,
    _splice,
    _not_text,
    _steering,
    _number,
    _odd_value,
    _nested,
    _glued,
)
RARE = (_shuffled, _doubled, _long, _brackets, _empty)


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return bytes with some damage."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        if not data:
            break
        data = rng.choice(MUTATIONS if rng.random() < 0.75 else RARE)(data, rng)
    return data


def mutate_database(path: Path, rng: random.Random) -> None:
    """Damage a database: now its file, now what its owner could have written into it."""
    if rng.random() < 0.3:
        data = path.read_bytes()
        if rng.random() < 0.5:  # where the schema stands
            page = _not_text(_flip(data[100:PAGE], rng), rng)[: PAGE - 100]
            path.write_bytes(data[:100] + page + data[PAGE:])
        else:
            deed = rng.choice((_flip, _flip, _flip, _truncate, _splice, _cut))
            path.write_bytes(deed(data, rng))
        return
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.text_factory = bytes
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        tables = [name.decode() for (name,) in names]
        for _ in range(rng.choice((1, 2, 5))):
            table = rng.choice(tables)
            try:
                rows = connection.execute(f'SELECT rowid, * FROM "{table}"').fetchall()
            except sqlite3.Error:
                continue  # a table without a place of its own for rows
            columns = [one[1].decode() for one in connection.execute(f'PRAGMA table_info("{table}")')]
            if rows:
                row, at = rng.choice(rows), rng.randrange(len(columns))
                _set(connection, table, columns[at], row[0], _cell(row[at + 1], rng))


def _cell(value: object, rng: random.Random) -> tuple[str, object]:
    data = value if isinstance(value, bytes) else str(value).encode()
    match rng.randrange(4):
        case 0:
            return "?", rng.choice((None, 2**63 - 1, -(2**63), 1e308, float("inf"), b"\x00\xff", "", "\ufeff"))
        case 1:
            return "CAST(? AS TEXT)", rng.choice(NOT_TEXT) + data
    return "CAST(? AS TEXT)", mutate_bytes(data, rng)


def _set(connection: sqlite3.Connection, table: str, column: str, row: int, cell: tuple[str, object]) -> None:
    try:
        connection.execute(f'UPDATE "{table}" SET "{column}" = {cell[0]} WHERE rowid = ?', (cell[1], row))
    except sqlite3.Error:
        return  # its owner could not have written that
