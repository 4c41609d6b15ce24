"""The program without some kinds of mailbox: `python -m tests.without neo omo`; without a name, each in turn and all.

A tree in which the folders of these kinds and their lines in `pyproject.toml` are missing must do all that
concerns no mailbox of such a kind: its layers hold, `signalbox stores` lists the others, the demonstration's mailbox is
made and read, and HAAK mailboxes keep the contract. Opening a mailbox of a missing kind names what is missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
GROUP = "mailstore.stores"
LAYER_TESTS = (
    *("tests/project/test_layers.py", "tests/mailstore/test_registry.py", "tests/mailstore/test_rules.py"),
    *("tests/mailstore/test_query.py", "tests/mailstore/test_records.py"),
)
OPEN = """
import sys
from mailstore.errors import MailError
from mailstore.registry import open_store
for url in sys.argv[1:]:
    try:
        open_store(url)
    except MailError as error:
        print(error)
"""
DEMO = """
from console.demo.run import prepared
from mailstore.folding import fold_store
from mailstore.registry import open_store
with prepared(1) as root, open_store(f"haak:{root / 'data'}") as store:
    print(len(list(fold_store(store, "user", 0.0).times())))
"""


def entry_points() -> dict[str, str]:
    """Return the kinds that come with the program, each with the object that describes it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: dict[str, str] = project["entry-points"][GROUP]
    return found


def packages() -> dict[str, list[str]]:
    """Return the packages of foreign kinds, each with the kinds that it brings."""
    found: dict[str, list[str]] = {}
    for kind, target in entry_points().items():
        found.setdefault(target.partition(":")[0].rpartition(".")[2], []).append(kind)
    return found


class TreeWithout:
    """A tree like this one, of links, without some packages of kinds; with `is_declared` their lines are left."""

    def __init__(self, place: Path, gone: Collection[str], *, is_declared: bool = False) -> None:
        self.place = place
        left_out = {
            *(ROOT / "mailstore" / "kinds" / name for name in gone),
            *(ROOT / "tests" / "kinds" / name for name in gone),
            *(ROOT / "docs" / "formats" / f"{name.replace('_', '-')}.md" for name in gone),
        }
        branches = {above for path in left_out for above in path.parents if above.is_relative_to(ROOT)}
        self._link(ROOT, place, left_out, branches)
        kinds = [kind for name in gone for kind in packages()[name]]
        text = (ROOT / "pyproject.toml").read_text("utf-8")
        lines = [line for line in text.splitlines(keepends=True) if is_declared or not self._declares(line, kinds)]
        (place / "pyproject.toml").write_text("".join(lines))
        points = tomllib.loads("".join(lines))["project"]["entry-points"][GROUP]
        info = place / "signalbox_console-0.dist-info"  # goes before the installed one
        info.mkdir()
        (info / "METADATA").write_text("Name: signalbox-console\nVersion: 0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n" + "".join(f"{a} = {b}\n" for a, b in points.items()))

    @staticmethod
    def _declares(line: str, kinds: Collection[str]) -> bool:
        name, equals, target = line.partition(" = ")
        return bool(equals) and name.strip('"') in kinds and target.startswith('"mailstore.kinds.')

    def _link(self, source: Path, place: Path, left_out: Collection[Path], branches: Collection[Path]) -> None:
        place.mkdir(exist_ok=True)
        for path in source.iterdir():
            if path in branches:
                self._link(path, place / path.name, left_out, branches)
            elif path not in left_out and path.name != "pyproject.toml" and path.name[0] != ".":
                (place / path.name).symlink_to(path)

    def run(self, *words: str) -> tuple[int, str]:
        """Run Python with some arguments in the tree; return its status and all that it printed."""
        cache = self.place / ".cache"
        own = {
            **os.environ,
            "PYTHONPATH": str(self.place),
            "XDG_CACHE_HOME": str(cache),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            [sys.executable, *words], cwd=self.place, env=own, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def signalbox(self, *words: str) -> tuple[int, str]:
        """Run the program."""
        return self.run("-m", "console", *words)


def faults_without(gone: Sequence[str], place: Path, *, is_quick: bool = False) -> list[str]:
    """Return what doesn't work in a tree without some packages of kinds; `is_quick` leaves the tests of layers out.

    They read the code that is left, whose faults they find in the whole tree as well.
    """
    tree = TreeWithout(place, gone)
    kinds = [kind for name in gone for kind in packages()[name]]
    faults = []
    status, said = tree.signalbox("stores")
    listed = {line.split()[0] for line in said.splitlines() if line[:1].strip()}
    if status or listed != {"haak", "memory", "several", *entry_points()} - set(kinds):
        faults.append(f"stores: {said}")
    status, said = tree.run("-c", OPEN, *(f"{kind}:{place}" for kind in kinds))
    unknown = [kind for kind in kinds if f'unknown kind of store "{kind}"' not in said]
    if status or unknown:
        faults.append(f"{', '.join(unknown)}: {said}")
    for words in (("--help",), ("config", "show"), ("completion", "words", "bash", "--", "signalbox s")):
        status, said = tree.signalbox(*words)
        if status:
            faults.append(f"{' '.join(words)}: {said}")
    status, said = tree.run("-c", DEMO)
    if status or not int(said) > 100:
        faults.append(f"demo: {said}")
    pytest = (
        "-m",
        "pytest",
        "-q",
        "--noconftest",
        "--hypothesis-profile=ci",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
    )
    for more in (
        *([] if is_quick else [LAYER_TESTS]),
        ("tests/mailstore/test_conformance.py", "-k", "TestHaak and table"),
    ):
        status, said = tree.run(*pytest, *more)
        if status:
            faults.append(f"{' '.join(more)}: {said}")
    return faults


def error_without(name: str, place: Path) -> str:
    """Return what is said of a mailbox whose kind is declared while its package is missing."""
    (kind, *_) = packages()[name]
    return TreeWithout(place, [name], is_declared=True).signalbox("threads", "--store", f"{kind}:{place}")[1]


def main(words: Sequence[str]) -> int:
    """Try the program without some kinds, or without each in turn and without all; return 1 if something fails."""
    every = list(packages())
    status = 0
    for gone in [[word.replace("-", "_") for word in words]] if words else [*([name] for name in every), every]:
        with tempfile.TemporaryDirectory() as folder:
            faults = faults_without(gone, Path(folder) / "tree")
        print(f"without {', '.join(gone)}: {len(faults)} faults")
        for fault in faults:
            print(fault)
        status |= bool(faults)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
