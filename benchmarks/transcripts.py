"""How soon mail between Claude Code sessions is shown: a folder of many transcripts beside an empty one, in turn.

python -m benchmarks.transcripts [TRANSCRIPTS] [BYTES OF EACH]: by default 500 of 2 MB. Writes TRANSCRIPTS.md
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random

from benchmarks.console import wait_read
from benchmarks.generate import WORDS, generate, stamp
from benchmarks.measure import Figures, short, table
from benchmarks.processes import settle
from tests.terminal import SIGNALBOX, Terminal, environment

PAGE = Path(__file__).parent / "TRANSCRIPTS.md"
ROUNDS, LINES = 9, 60
LINE_SIZES = (400, 2_000, 2_000, 8_000, 30_000)
BEGAN = 1_795_000_000.0


class Sessions:
    """A folder of transcripts in which every third one has a message to the next."""

    def __init__(self, folder: Path, files: int, size: int) -> None:
        self.projects = folder / "projects"
        (folder / "sessions").mkdir(parents=True)
        self.projects.mkdir()
        self.messages = 0
        self._numbers = count(1)
        self._last = self.projects
        rng = Random(1)
        filler = " ".join(rng.choices(WORDS, k=20_000))
        for number in range(files):
            self._write(number, size, rng, filler)

    def _write(self, number: int, size: int, rng: Random, filler: str) -> None:
        self._last = self.projects / f"-srv-p{number % 40}" / f"{number:08x}-2222-4333-8444-{number:012x}.jsonl"
        self._last.parent.mkdir(exist_ok=True)
        time_at = BEGAN + number * 60
        about = {"cwd": f"/srv/p{number % 40}", "gitBranch": "main", "version": "2.1.330", "timestamp": stamp(time_at)}
        with self._last.open("wb") as file:
            file.write(encoded({"type": "agent-name", "agentName": f"agent{number}", "sessionId": "x"}))
            while file.tell() < size:
                length = rng.choice(LINE_SIZES)
                start = rng.randrange(len(filler) - length)
                said = {"role": "user", "content": filler[start : start + length]}
                file.write(encoded({"type": "user", "uuid": f"u{next(self._numbers)}", **about, "message": said}))
        if number % 3 == 0:
            self.send(f"agent{number + 1}", time_at)

    def send(self, to: str, at: float) -> int:
        """Append a message of the newest session; return how many there are now."""
        number = next(self._numbers)
        self.messages += 1
        subject = f"subject {number}"
        asked = {"to": to, "summary": subject, "message": f"message {number}"}
        call = [{"type": "tool_use", "id": f"t{number}", "name": "SendMessage", "input": asked}]
        result = [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "sent"}]
        done = {"success": True, "msg_id": f"{number:08x}-7ce3-4205-8391-b87c00ddd43e"}
        base = {"timestamp": stamp(at), "message": {"content": call}}
        lines = encoded({"type": "assistant", "uuid": f"c{number}", **base})
        base = {"timestamp": stamp(at), "message": {"content": result}, "toolUseResult": done}
        with self._last.open("ab") as file:
            file.write(lines + encoded({"type": "user", "uuid": f"r{number}", **base}))
        return self.messages


def encoded(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


@contextmanager
def console(url: str, home: Path) -> Iterator[Terminal]:
    with Terminal((*SIGNALBOX, "open", url), env=environment(home)) as terminal:
        yield terminal


def opened(url: str, home: Path, sign: str | Callable[[Terminal], bool]) -> int:
    """Return the nanoseconds from the process to a sign on its screen."""
    with console(url, home) as terminal:
        return terminal.wait_for(sign, 600) - terminal.started_at


def lines(url: str, home: Path, append: Callable[[int], int]) -> list[int]:
    """Return the nanoseconds from each of some appended messages until the screen counts it."""
    taken = []
    with console(url, home) as terminal:
        terminal.wait_for("● live", 600)
        settle(terminal.pid)
        for number in range(LINES):
            time.sleep(0.15)
            start = time.monotonic_ns()
            taken.append(wait_read(terminal, append(number)) - start)
    return taken


def measure(folder: Path, files: int, size: int) -> list[tuple[str, Figures]]:
    """Return each measurement with its name, baselines beside what they are for."""
    many = Sessions(folder / "many" / ".claude", files, size)
    none = Sessions(folder / "none" / ".claude", 0, 0)
    newest = "subject "
    urls = [f"claude-sessions:{it.projects}" for it in (none, many)]
    taken: dict[str, list[int]] = {}
    kept = folder / "kept"
    with console(urls[1], kept) as terminal:
        taken["everything read for the first time"] = [wait_read(terminal, many.messages) - terminal.started_at]
    for number in range(ROUNDS):
        fresh = folder / f"home{number}"
        taken.setdefault("first screen, without transcripts", []).append(opened(urls[0], fresh / "none", "● live"))
        taken.setdefault("first screen, never read", []).append(opened(urls[1], fresh / "many", newest))
        taken.setdefault("first screen, opened again", []).append(opened(urls[1], kept, newest))
    generate(folder / "haak", 1_000)
    mailbox = folder / "haak" / "agent-mailbox.jsonl"
    with (folder / "haak" / "agent-roster.jsonl").open("ab") as roster:  # as many agents as there are sessions
        for number in range(files):
            ended = {"status": "dead", "ended_at": stamp(BEGAN), "last_seen": stamp(BEGAN)}
            roster.write(encoded({"session_id": f"agent{number}@0000", **ended}))

    def append(number: int) -> int:
        told = {"id": f"x{number}", "sender": "user", "recipient": "all", "subject": f"haak {number}", "content": "x"}
        with mailbox.open("ab") as file:
            file.write(encoded({**told, "timestamp": stamp(time.time())}))
        return 1_001 + number

    taken["a message on the screen, HAAK"] = lines(f"haak:{folder / 'haak'}", folder / "other", append)
    taken["a message on the screen, transcripts"] = lines(
        urls[1], kept, lambda number: many.send("agent1", time.time())
    )
    return [(name, Figures.of_nanoseconds(times)) for name, times in taken.items()]


def page(found: list[tuple[str, Figures]], files: int, size: int) -> str:
    """Return the page of results."""
    medians = {name: figures.median for name, figures in found}
    bases = {
        "first screen, never read": "first screen, without transcripts",
        "first screen, opened again": "first screen, without transcripts",
        "a message on the screen, transcripts": "a message on the screen, HAAK",
    }
    rows = [
        (
            name,
            figures.count,
            f"{short(figures.median)} ms",
            f"{medians[name] / medians[bases[name]]:.2f} × {bases[name]}" if name in bases else "",
        )
        for name, figures in found
    ]
    heads = ("what", "n", "median", "ratio")
    return (
        "# Transcripts\n\n"
        f"Taken by `python -m benchmarks.transcripts {files} {size}` on {datetime.now(UTC).date()}: "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}.\n"
        f"{files:,} transcripts of {size / 1e6:g} MB, every third with a message; files are in the page cache as far "
        "as it holds them. Screens are read from a pseudo-terminal.\n\n" + table(heads, rows) + "\n"
    )


def main(words: list[str]) -> None:
    """Measure, and write the page."""
    files, size = (int(words[0]) if words else 500), (int(words[1]) if len(words) > 1 else 2_000_000)
    with tempfile.TemporaryDirectory(prefix="signalbox-bench-") as folder:
        text = page(measure(Path(folder), files, size), files, size)
    PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
