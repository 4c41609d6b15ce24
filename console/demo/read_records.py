"""Who read what, and when: each agent polls its mail now and then, and reads what it finds."""

from __future__ import annotations

from random import Random

import msgspec

from console.demo.conversations import TAGGED, DemoMessage
from console.demo.personas import CAST, PERSON, Member

HOUR = 3_600.0
PAST_HOURS = 72
DIRECT_TTL_HOURS = 24
BROADCAST_TTL_HOURS = 4
ROLES = frozenset(one.role for one in CAST)


class DemoRead(msgspec.Struct, frozen=True):
    """One read record; `time` in seconds since the epoch."""

    message_id: str
    reader: str
    time: float


def readings(letters: list[DemoMessage], now: float, rng: Random) -> list[DemoRead]:
    """Return the read records of the live letters, oldest first.

    Agents poll at their start, every 8 to 50 minutes, and a minute before they write. Role mail is read
    once, by the first holder that polls. The person reads what is addressed to it whenever it writes.
    """
    live = sorted((one for one in letters if not one.archived), key=lambda one: one.time)
    visits = [(moment, one) for one in CAST for moment in _visits(one, live, now, rng)]
    taken: set[tuple[str, str]] = set()
    done: list[DemoRead] = []
    for moment, one in sorted(visits, key=lambda visit: visit[0]):
        for letter in _found(one, moment, live, taken):
            moment = min(moment + rng.uniform(1, 4), now)
            done.append(DemoRead(letter.id, one.session_id, float(int(moment))))
    done.extend(_person(live, rng))
    return sorted(done, key=lambda reading: (reading.time, reading.reader, reading.message_id))


def _visits(one: Member, live: list[DemoMessage], now: float, rng: Random) -> list[float]:
    begun = now - min(one.started, PAST_HOURS) * HOUR
    until = min(now - one.awake_until * HOUR, now - 15)
    moments = [letter.time - rng.uniform(45, 100) for letter in live if letter.sender == one.session_id]
    moment = begun + rng.uniform(5, 40)
    while moment < until:
        moments.append(moment)
        moment += rng.uniform(8, 50) * 60
    return [moment for moment in moments if begun < moment < until]


def _found(one: Member, moment: float, live: list[DemoMessage], taken: set[tuple[str, str]]) -> list[DemoMessage]:
    found: list[DemoMessage] = []
    for letter in live:
        if letter.time >= moment:
            break
        reader = one.role if letter.recipients[0].removeprefix("role:") == one.role else one.session_id
        if (reader, letter.id) in taken or not _is_for(letter, one) or _expiry(letter) <= moment:
            continue
        taken.add((reader, letter.id))
        found.append(letter)
    return found


def _is_for(letter: DemoMessage, one: Member) -> bool:
    if letter.sender == one.session_id or one.session_id in letter.missed:
        return False
    if {one.session_id, one.role, f"role:{one.role}", "all", *one.tags}.intersection(letter.recipients):
        return True
    return f"@{one.session_id}" in letter.content or f"@{one.role}" in letter.content


def _expiry(letter: DemoMessage) -> float:
    address = letter.recipients[0]
    if letter.ttl_hours is not None:
        hours: float = letter.ttl_hours
    elif address == "all":
        hours = BROADCAST_TTL_HOURS
    elif address == PERSON or address.startswith(TAGGED) or address.removeprefix("role:") in ROLES:
        hours = float("inf")
    else:
        hours = DIRECT_TTL_HOURS
    return letter.time + hours * HOUR


def _person(live: list[DemoMessage], rng: Random) -> list[DemoRead]:
    visits = [letter.time for letter in live if letter.sender == PERSON]
    found: list[DemoRead] = []
    for letter in live:
        after = [moment for moment in visits if moment > letter.time + 60]
        if PERSON in letter.recipients and after:
            found.append(DemoRead(letter.id, PERSON, float(int(min(after) - rng.uniform(20, 55)))))
    return found
