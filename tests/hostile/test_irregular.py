"""A file of each kind that is none, another each time; `python -m tests.hostile irregular` tries them all."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from tests.hostile.fuzz import KINDS, command, environment
from tests.hostile.irregular import COMMANDS, THINGS, faults_of, places, samples


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.endswith("-long")])
def test_what_is_no_file_holds_up_no_command(kind: str, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    chance = random.Random(seed)
    for _, folder, url in samples([kind], tmp_path):
        place, thing = chance.choice(places(folder)), chance.choice(list(THINGS))
        words = chance.choice(COMMANDS)
        assert faults_of(folder, url, place, thing, words, tmp_path) == [], (place, thing, words)


@pytest.mark.parametrize("thing", ["pipe", "zero", "folder", "hole", "deep"])
def test_one_bad_file_of_many_is_a_problem_and_the_mail_is_shown(thing: str, tmp_path: Path) -> None:
    folder = tmp_path / "box"
    url = KINDS["haak"](folder)
    mailbox = next(folder.rglob("agent-mailbox.jsonl"))
    with environment(tmp_path):
        before = len(json.loads(command(["history", "--json", "--store", url]).out))
        for name in ("agent-mailbox-reads.jsonl", "agent-roster.json"):
            mailbox.with_name(name).unlink(missing_ok=True)
            THINGS[thing](mailbox.with_name(name))
        report = json.loads(command(["doctor", "--json", "--store", url]).out)
        told = [*report["malformed"], *report["warnings"]]
        assert {row["file"] for row in told} >= {"agent-mailbox-reads.jsonl", "agent-roster.json"}, told
        assert len(json.loads(command(["history", "--json", "--store", url]).out)) == before


def test_a_mailbox_that_is_no_file_is_an_error(tmp_path: Path) -> None:
    url = KINDS["haak"](tmp_path / "box")
    mailbox = next((tmp_path / "box").rglob("agent-mailbox.jsonl"))
    mailbox.unlink()
    os.mkfifo(mailbox)
    with environment(tmp_path):
        for words in (["history"], ["send", "--from", "user", "--to", "ann-00000001", "--body", "x"]):
            done = command([*words, "--store", url])
            assert done.status == 1
            assert "agent-mailbox.jsonl is not a regular file" in done.err
