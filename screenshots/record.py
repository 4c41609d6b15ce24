"""Record a minute with the real program in a real terminal: the demo, seen, answered, searched and left.

python -m screenshots.record        writes tour.cast (for asciinema) and tour.svg (for a page), beside this file
python -m screenshots.record draw   draws tour.svg anew from tour.cast
"""

from __future__ import annotations

import codecs
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from screenshots.animated import animated
from screenshots.cast import Event, events_of, frames_of, written
from tests.terminal import Terminal, environment

HERE = Path(__file__).parent
CAST, DRAWING = HERE / "tour.cast", HERE / "tour.svg"
TITLE = "A minute with Signalbox"
END = "end"
SIZE = (100, 30)
SEED = 7
TYPING = 0.07
PROMPT = "\x1b[38;2;110;170;120m$\x1b[0m "


class Recorder(Terminal):
    """A terminal that keeps what was written to it, with the time of each piece in seconds."""

    def __init__(self, argv: Sequence[str], home: Path, **more: str) -> None:
        self.events: list[Event] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._began = time.monotonic()
        super().__init__(argv, env=environment(home, **more), size=SIZE, cwd=home)

    def _take(self, data: bytes, arrived: int) -> None:
        self.events.append((self._now(), "o", self._decoder.decode(data)))
        super()._take(data, arrived)

    def _now(self) -> float:
        return round(time.monotonic() - self._began, 3)

    def caption(self, keys: str, words: str) -> None:
        """Mark the place where something else begins: the keys, and what they do."""
        self.events.append((self._now(), "m", f"{keys}\t{words}"))

    def keys(self, *keys: str, pause: float = 0.35) -> None:
        """Press keys as a person does."""
        for key in keys:
            self.press(key)
            time.sleep(pause)

    def type(self, text: str) -> None:
        """Type a text as a person does."""
        for character in text:
            self.send(character)
            time.sleep(TYPING)


def perform(tour: Recorder) -> None:
    """Do everything that is to be seen."""
    tour.wait_for("$")
    tour.caption("", "A sample mailbox, with simulated agents")
    time.sleep(0.8)
    tour.type("signalbox demo")
    time.sleep(0.4)
    tour.press("enter")
    tour.wait_for("All mail")
    tour.wait_for("● live")
    time.sleep(1.5)

    tour.caption("j k", "Threads, live; the conversation follows")
    tour.keys("j", "j", "j", "j", pause=0.7)

    tour.caption("p", "What needs you, and why")
    tour.keys("p")
    tour.wait_for("Needs attention")
    time.sleep(2.2)
    tour.keys("j", pause=1.0)

    tour.caption("r", "Answer it: the line below says whom it reaches")
    tour.keys("r")
    tour.wait_for("reaches")
    time.sleep(0.6)
    tour.type("Tomorrow morning. Until then, the list is the librarian's.")
    time.sleep(1.4)
    tour.keys("ctrl+s")
    tour.wait_for("Needs attention")
    time.sleep(1.6)

    tour.caption("D  >", "A dead letter: redirect it to an agent that lives")
    tour.keys("escape", pause=0.5)
    tour.keys("D")
    tour.wait_for("Dead letters")
    time.sleep(1.6)
    tour.keys(">")
    tour.wait_for("Redirect")
    time.sleep(2.4)
    tour.keys("enter")
    tour.wait_for("undo")
    time.sleep(2.0)

    tour.caption("enter", "A channel is one stream: write, and agents answer")
    tour.keys("escape", pause=0.5)
    tour.keys("1", "g", pause=0.25)
    for _ in range(30):
        if any("#inscription" in line and is_chosen(tour, y) for y, line in enumerate(tour.lines)):
            break
        tour.keys("j", pause=0.2)
    tour.keys("enter")
    tour.wait_for("Write → #inscription")
    time.sleep(0.5)
    tour.type("@librarian-7 how far are you?")
    time.sleep(1.2)
    tour.keys("ctrl+s")
    time.sleep(5.0)

    tour.caption("T  {", "The past: everything as it was then")
    tour.keys("escape", pause=0.4)
    tour.keys("T", pause=1.0)
    tour.wait_for("as of")
    tour.keys("{", "{", "{", pause=0.9)
    time.sleep(0.8)
    tour.keys("T", pause=0.6)

    tour.caption("O", "The fleet at a glance")
    tour.keys("O")
    tour.wait_for("Heartbeat")
    time.sleep(4.0)
    tour.events.append((tour._now(), "m", END))


def is_chosen(tour: Recorder, y: int) -> bool:
    """Say whether the row of the left column at a height is the one under the cursor."""
    here = tour.cell(2, y).bg
    return here not in {tour.cell(2, y - 1).bg, tour.cell(2, y + 1).bg}


def record() -> list[Event]:
    """Return what the terminal showed, until the marker of the end."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        programs, settings = home / "bin", home / ".config" / "signalbox"
        programs.mkdir()
        settings.mkdir(parents=True)
        (settings / "config.toml").write_text("[notifications]\nto_me = []\nquestion = []\ndead_letter = []\n", "utf-8")
        script = programs / "signalbox"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m console "$@" --seed {SEED}\n', "utf-8")
        script.chmod(0o755)
        path = f"{programs}:{environment(home)['PATH']}"
        with Recorder(["bash", "--norc", "--noprofile", "-i"], home, PATH=path, PS1=PROMPT) as tour:
            perform(tour)
            events = list(tour.events)
    end = next(at for at, (_, kind, text) in enumerate(events) if (kind, text) == ("m", END))
    begin = events[0][0]
    return [(round(at - begin, 3), kind, text) for at, kind, text in events[:end]]


def main() -> None:
    """Record, and draw."""
    if sys.argv[1:] != ["draw"]:
        CAST.write_text(written(frames_of(record(), SIZE), SIZE, TITLE), "utf-8")
    size, events = events_of(CAST.read_text("utf-8"))
    drawing = animated(frames_of(events, size), size, TITLE)
    DRAWING.write_text(drawing, "utf-8")
    sys.stdout.write(
        f"{CAST.name}: {CAST.stat().st_size // 1024} KiB, {DRAWING.name}: {len(drawing.encode()) // 1024} KiB\n"
    )


if __name__ == "__main__":
    main()
