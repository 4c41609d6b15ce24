"""What a run says about the tests that it skipped."""

from __future__ import annotations

import pytest

from tests.conftest import left_out


def skipped(reason: str) -> pytest.TestReport:
    return pytest.TestReport("a", ("a", 1, "a"), {}, "skipped", ("a.py", 1, f"Skipped: {reason}"), "setup")


def test_what_kinds_of_mailbox_lack_is_one_line_and_anything_else_is_told() -> None:
    of_kinds = ["an omo mailbox can't record: it has no journal", "it is not on files", "its location holds no secrets"]
    told = left_out([skipped(reason) for reason in [*of_kinds, "dovecot is not installed", "dovecot is not installed"]])
    assert told == [
        "not run: 2 × dovecot is not installed",
        "not run: 3 × a kind of mailbox lacks what the test needs",
    ]


def test_where_nothing_was_skipped_nothing_is_said() -> None:
    assert left_out([]) == []
