"""Who plays in the demo: twelve agents of a document-inscription project, their roles, tags and lives."""

from __future__ import annotations

import msgspec

PERSON = "user"
STRANGER = "night-watch"
"""A sender that never registered: a cron job, as they exist everywhere."""

MARKER = "DEMO.txt"
"""The file that marks a mailbox as a throw-away: simulated agents write nowhere else."""


class Member(msgspec.Struct, frozen=True):
    """One agent; its life in hours before the moment at which the demo begins.

    `ended` is when it died, `frozen` since when it is frozen; None where it did or is not. `doing` is the state that it
    reports in the end.
    """

    session_id: str
    name: str
    role: str
    tags: tuple[str, ...]
    started: float
    activity: str
    ended: float | None = None
    frozen: float | None = None
    model: str = "opus-4-6"
    doing: str = "working"

    @property
    def awake_until(self) -> float:
        """Return the hours before the beginning at which it last could read; 0 while it lives."""
        return self.ended if self.ended is not None else self.frozen or 0.0

    @property
    def is_living(self) -> bool:
        """Say whether it is there to read and answer when the demo begins."""
        return self.ended is None and self.frozen is None


CAST: tuple[Member, ...] = (
    Member(
        "architect-new",
        "Lina",
        "architect",
        ("project:inscription", "concern:governance", "domain:architecture"),
        52,
        "schema v4: the migration plan",
    ),
    Member(
        "librarian-7",
        "Iris",
        "librarian",
        ("project:inscription", "concern:ontology"),
        290,
        "registering the letters of 1911",
    ),
    Member(
        "steward-3",
        "Bram",
        "steward",
        ("concern:governance", "domain:scripts"),
        29,
        "watching the mailbox and the nightly run",
    ),
    Member(
        "scribe-2",
        "",
        "scribe",
        ("project:inscription",),
        66,
        "transcribing leaves 230 to 245",
        model="sonnet-4-6",
        doing="idle",
    ),
    Member(
        "ontologist-4",
        "Noor",
        "ontologist",
        ("concern:ontology", "project:inscription"),
        60,
        "merging duplicate persons",
    ),
    Member(
        "runner-9",
        "",
        "engineer",
        ("project:inscription", "domain:scripts"),
        47,
        "nightly ingest, chunk by chunk",
        model="sonnet-4-6",
        doing="waiting",
    ),
    Member(
        "face-decoder-1",
        "Otto",
        "analyst",
        ("project:face-decoding", "domain:scripts"),
        64,
        "cross-validation without the leak",
    ),
    Member(
        "face-decoder-2",
        "",
        "analyst",
        ("project:face-decoding",),
        31,
        "permutation test, 1,000 shuffles",
        model="sonnet-4-6",
    ),
    Member(
        "curator-5",
        "Mei",
        "curator",
        ("project:inscription", "concern:governance"),
        58,
        "frozen in the middle of the loan list",
        frozen=9,
    ),
    Member(
        "old-steward",
        "Henk",
        "steward",
        ("concern:governance", "domain:scripts"),
        620,
        "handed over to steward-3",
        ended=29.5,
    ),
    Member(
        "architect-old",
        "",
        "architect",
        ("project:inscription", "domain:architecture"),
        620,
        "context used up",
        ended=53,
    ),
    Member(
        "auditor-1",
        "Wren",
        "auditor",
        ("concern:governance",),
        620,
        "second reading of ruling 15",
        ended=26,
    ),
)


def member(session_id: str) -> Member:
    """Return the member with a session id; raises KeyError if there is none."""
    for one in CAST:
        if one.session_id == session_id:
            return one
    raise KeyError(session_id)
