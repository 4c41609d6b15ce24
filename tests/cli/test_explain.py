"""Every error is explained: by its code, by the message as it was printed, or by words of it."""

from __future__ import annotations

import pytest

from console.cli.explain import explanations, fitting
from tests.cli.conftest import Run


def test_a_code_is_explained(run: Run) -> None:
    done = run("explain", "e103")
    assert done.status == 0
    assert done.out.startswith("no terminal to ask for confirmation (E103)\n  why: `archive` asks before")
    assert "  fix: use `--yes`" in done.out


def test_a_message_that_was_printed_is_explained_by_itself(run: Run) -> None:
    said = run("config", "get", "undo_secnds").err.strip()
    assert said.startswith('signalbox: unknown setting "undo_secnds"')
    (first, *_) = run("explain", said, "--json").document
    assert (first["code"], first["message"]) == ("E150", 'unknown setting "KEY"')
    assert first["remedy"]


def test_words_that_no_message_has_are_an_error(run: Run) -> None:
    done = run("explain", "zzzz", "\x1b[2J")
    assert (done.status, done.out) == (1, "")
    assert 'no error is "zzzz ␛[2J"' in done.err


@pytest.mark.parametrize("at", range(0, len(explanations()), 23))
def test_each_explanation_is_found_by_its_own_words(at: int) -> None:
    wanted = explanations()[at]
    assert wanted in list(fitting(wanted.message))
    assert all((wanted.message, wanted.cause, wanted.remedy))
