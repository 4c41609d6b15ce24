"""The generated mailboxes that the benchmarks measure: are they what they claim to be?"""

from __future__ import annotations

import email
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import compare, in_turn, maildir
from benchmarks.bench import MAILBOX, READS, Bench
from benchmarks.beside import OURS, READ, Beside
from benchmarks.generate import arrivals, generate
from benchmarks.goals import Goal
from benchmarks.goals import report as goals
from benchmarks.growth import chart
from benchmarks.growth import report as growth
from benchmarks.measure import Figures, Results, Value
from benchmarks.transport_report import RoundResult, page
from mailstore import Mailbox, open_store

ROOT = Path(__file__).parents[2]
NOW = 1_773_671_400.0


def test_a_generated_mailbox_is_whole_and_lively(tmp_path: Path) -> None:
    generate(tmp_path / "data", 500, now=NOW)
    mailbox = Mailbox()
    with open_store(f"haak:{tmp_path / 'data'}") as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    assert len(mailbox) == 500
    assert mailbox.problems == []
    assert len(list(mailbox.roster)) == 40
    messages = list(mailbox.messages())
    assert 150 < sum(message.thread is not None for message in messages) < 400
    assert 1_000 < sum(len(mailbox.receipts(message.id)) for message in messages) < 2_200
    assert mailbox.channels()
    assert mailbox.dead_letters(NOW)


def test_a_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        generate(tmp_path / name, 50, seed=3, now=NOW)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "other" / file.name).read_bytes()


def test_percentiles_are_values_that_were_measured() -> None:
    figures = Figures.of_nanoseconds([value * 1_000_000 for value in range(100, 0, -1)])
    assert (figures.count, figures.median) == (100, 50.5)
    assert (figures.percentile(50), figures.percentile(95), figures.percentile(99)) == (50, 95, 99)


def run(module: str, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", module, *words]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)


def lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def test_what_arrives_is_from_the_same_company_and_new(tmp_path: Path) -> None:
    generate(tmp_path / "data", 20, now=NOW)
    agents = {agent["session_id"] for agent in lines(tmp_path / "data" / "agent-roster.jsonl")}
    known = {record["id"] for record in lines(tmp_path / "data" / "agent-mailbox.jsonl")}
    came = [json.loads(line) for line in arrivals(30, seed=0, start=NOW, seconds=1.0)]
    assert {record["sender"] for record in came} <= agents
    assert len({record["id"] for record in came} - known) == 30
    assert {record["timestamp"] for record in came} == {"2026-03-16T14:30:00Z"}


def test_a_maildir_holds_the_same_messages(tmp_path: Path) -> None:
    generate(tmp_path / "data", 20, now=NOW)
    maildir.write(tmp_path / "data", tmp_path / "mail")
    items = [email.message_from_bytes(file.read_bytes()) for file in sorted((tmp_path / "mail" / "cur").iterdir())]
    for item, record in zip(items, lines(tmp_path / "data" / "agent-mailbox.jsonl"), strict=True):
        assert item["Message-ID"] == f"<{record['id']}@localhost>"
        assert item["Subject"] == record["subject"]
        assert item.get_payload() == f"{record['content']}\n"


def some_results() -> Results:
    results = Results()
    for at, size in enumerate((1_000, 10_000, 100_000)):
        results.add("flat one", size, 5 + at / 10, "ms", 9)
        results.add("<long> one", size, size / 100, "ms", 9)
        results.add("none missing", size, 0, "messages")
    results.add("base", 0, 10, "ms", 3)
    return results


def test_a_goal_is_met_or_missed_at_the_largest_size_measured() -> None:
    page = goals(
        some_results(),
        (
            Goal("flat one", 6),
            Goal("flat one", 0.5, "base", over_at=0),
            Goal("flat one", 6, "base", over_at=0, is_times=False),
            Goal("<long> one", 1.2, "<long> one", over_at=10_000),
            Goal("no such figure", 1),
        ),
    )
    assert "| flat one, 100,000 | 9 | 5.2 ms |  |  | ≤ 6 ms | met |" in page
    assert "| flat one, 100,000 | 9 | 5.2 ms | base: 10 ms | 0.52 × | ≤ 0.5 × | missed |" in page
    assert "| flat one, 100,000 | 9 | 5.2 ms | base: 10 ms | 0.52 × | ≤ 6 ms | met |" in page
    assert "| <long> one, 100,000 | 9 | 1,000 ms | at 10,000: 100 ms | 10 × | ≤ 1.2 × | missed |" in page
    assert "| no such figure, 1,000,000 |  | not measured |" in page


def test_growth_is_told_and_drawn() -> None:
    results = some_results()
    assert "| flat one (ms) | 5 | 5.1 | 5.2 | flat |" in growth(results)
    assert "| <long> one (ms) | 10 | 100 | 1,000 | grows as the mailbox |" in growth(results)
    drawing = ElementTree.fromstring(chart(results))
    texts = ["".join(text.itertext()) for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"flat one", "<long> one", "5.2", "1,000", "100k"} <= set(texts)
    assert not {"base", "none missing"} & set(texts)


def test_a_mailbox_is_given_back_as_it_was(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (20,), is_quick=True)
    before = {file.name: file.read_bytes() for file in bench.mailbox(20).iterdir()}
    with bench.lent(20) as data:
        for name in (MAILBOX, READS, "of somebody else"):
            with (data / name).open("ab") as file:
                file.write(b"more\n")
    assert {file.name: file.read_bytes() for file in bench.mailbox(20).iterdir()} == before


def test_a_mailbox_that_was_not_given_back_is_made_anew(tmp_path: Path) -> None:
    bench = Bench(tmp_path, (20,), is_quick=True)
    with pytest.raises(AssertionError, match="was cut by a measurement"), bench.lent(20) as data:
        (data / MAILBOX).write_bytes(b"")
    assert len((bench.mailbox(20) / MAILBOX).read_bytes().splitlines()) == 20


def test_a_program_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    beside = Beside(Bench(tmp_path, (20,)), 20)

    def never() -> int:
        raise AssertionError("not within 0 s")

    assert beside.take(OURS, READ, lambda: 2_000_000)
    assert not beside.take("lnav", READ, never, limit=0)
    assert not beside.take("lnav", READ, lambda: 1_000_000)
    assert "| everything read or indexed, 20 | 2 | > 0 s |" in compare.report(beside.bench.results)
    with pytest.raises(AssertionError):
        beside.take("toolong", READ, never)


def test_a_quick_run_measures_what_needs_no_rhythm(tmp_path: Path) -> None:
    subjects = ("startup", "one-more", "searching", "reading", "hook")
    done = run("benchmarks.run", ["--quick", "--data", str(tmp_path), *(f"--only={name}" for name in subjects)])
    assert done.returncode == 0, done.stderr
    for figure in ("first screen", "one more message folded", "first 50 hits, an absent word"):
        assert f"| {figure}, 1,000 | 1 |" in done.stdout.replace("| 2000 |", "| 1 |")


def test_a_crowd_loses_tears_and_doubles_nothing() -> None:
    done = run("benchmarks.crowd", ["--writers", "5", "--messages", "15", "--readers", "2"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("75 sent, ")


def test_a_round_of_messages_is_good_only_if_each_came_once_and_valid() -> None:
    good = RoundResult("relay", 2, {"relay": 2}, 2, 0, 0, 0, 2, 2, 0, 0, 1.0, (0.5, 1.5))
    assert good.is_good
    assert good.row() == "| relay | 2 | relay 2 | 2 | 0 | 0 | 2 | 2 |  | 1 s | 0.50 s | 1.50 s |"
    for field in ("lost", "doubled", "strange", "waiting"):
        assert not good._replace(**{field: 1}).is_good
    for field in ("received", "signed", "upstream"):
        assert not good._replace(**{field: 1}).is_good
    assert "Rounds that failed: 1." in page([good, good._replace(lost=1)])


def test_two_trees_differ_where_no_turn_of_one_lies_among_the_others() -> None:
    def turns(*values: float) -> list[Value]:
        return [Value(value, "ms", 9) for value in values]

    before = {("apart", 0): turns(5, 4, 6), ("among", 10_000): turns(4, 5, 9), ("gone", 0): turns(1, 1, 1)}
    now = {("apart", 0): turns(12, 10, 11), ("among", 10_000): turns(6, 7, 8), ("new", 0): turns(1, 1, 1)}
    assert in_turn.report("abc", before, now).splitlines()[2:] == [
        "| among, 10,000 | 5 ms (4 to 9) | 7 ms (6 to 8) | 1.40 × |  |",
        "| apart | 5 ms (4 to 6) | 11 ms (10 to 12) | 2.20 × | more |",
        "| gone | 1 ms (1 to 1) | not measured |  |  |",
        "| new | not measured | 1 ms (1 to 1) |  |  |",
    ]


def test_another_commit_is_built_beside_with_what_measures_from_this_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, data = tmp_path / "tree", tmp_path / "data"
    monkeypatch.setattr(in_turn, "ROOT", root)
    files = [root / folder / "code.py" for folder in ("console", "mailstore", "benchmarks", "tests")]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "before"]):
        for file in files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("before = True\n", encoding="utf-8")
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True)
    for file in files:
        file.write_text("now = True\n", encoding="utf-8")
    with in_turn.built("HEAD", data) as (tree, python):
        assert python == sys.executable
        assert {file.parent.name: file.read_text(encoding="utf-8") for file in tree.glob("*/code.py")} == {
            "console": "before = True\n",
            "mailstore": "before = True\n",
            "benchmarks": "now = True\n",
            "tests": "now = True\n",
        }
    assert list(data.iterdir()) == []
    with pytest.raises(SystemExit, match="git rev-parse"), in_turn.built("no-such-commit", data):
        pass
