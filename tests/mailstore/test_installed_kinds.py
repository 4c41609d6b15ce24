"""Which kinds packages bring: read from their entry points once, and kept while nothing was installed since."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from console.hooks import entry

ROOT = Path(entry.__file__).parents[2]
ASK = """
import sys
sys.path.insert(0, sys.argv[1])
from mailstore.discovery import found_from
found = found_from(sys.argv[2])
print(*(found or ()), int("importlib.metadata" in sys.modules))
"""


class Machine:
    """A home, a folder of installed packages in it, and a program that looks for a mailbox as hooks do."""

    def __init__(self, root: Path) -> None:
        self.home, self.packages, self.project = root / "home", root / "packages", root / "project"
        for folder in (self.home, self.packages, self.project):
            folder.mkdir()
        self.install("first", "first", ".first/mail")

    def install(self, package: str, kind: str, place: str) -> None:
        """Install a package with a kind of store."""
        info = self.packages / f"{package}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {package}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[mailstore.stores]\n{kind} = {package}_mail:KIND\n")
        text = f"from mailstore.installed_kinds import StoreKind\nKIND = StoreKind('no:Store', places=('{place}',))\n"
        (self.packages / f"{package}_mail.py").write_text(text)

    def look(self) -> tuple[str, str, bool]:
        """Return the kind and the place that are found in the project, and whether the metadata were read."""
        env = {"HOME": str(self.home), "PATH": "", "PYTHONPATH": f"{self.packages}", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-S", "-c", ASK, ROOT, self.project], env=env, capture_output=True, text=True, check=True
        )
        *found, has_read = done.stdout.split()
        kind, place = found or ("", "")
        return kind, place.removeprefix(f"{self.project}/"), has_read == "1"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def put(project: Path, place: str) -> None:
    (project / place).parent.mkdir(parents=True)
    (project / place).touch()


def test_what_was_found_is_kept_for_the_next_process(machine: Machine) -> None:
    put(machine.project, ".first/mail")
    assert machine.look() == ("first", ".first/mail", True)
    assert machine.look() == ("first", ".first/mail", False)


def test_a_mailbox_of_the_layer_needs_no_metadata(machine: Machine) -> None:
    put(machine.project, "data/agent-mailbox.jsonl")
    assert machine.look() == ("haak", "data/agent-mailbox.jsonl", False)


def test_a_package_that_comes_or_goes_is_seen(machine: Machine) -> None:
    put(machine.project, ".second/mail")
    assert machine.look() == ("", "", True)
    machine.install("second", "second", ".second/mail")
    assert machine.look() == ("second", ".second/mail", True)
    (machine.packages / "second-1.dist-info" / "entry_points.txt").unlink()
    (machine.packages / "second-1.dist-info" / "METADATA").unlink()
    (machine.packages / "second-1.dist-info").rmdir()
    assert machine.look() == ("", "", True)


def test_a_package_that_changes_its_places_is_seen(machine: Machine) -> None:
    put(machine.project, ".other/mail")
    assert machine.look() == ("", "", True)
    module = machine.packages / "first_mail.py"
    module.write_text(module.read_text().replace(".first", ".other"))
    os.utime(module, ns=(1, 1))
    assert machine.look() == ("first", ".other/mail", True)


@pytest.mark.parametrize("text", [b"", b"at\t1\t/nowhere\nkind\tx\ty:z\nend\n", b"kind\n", b"\xff\0"])
def test_a_damaged_file_is_read_anew(machine: Machine, text: bytes) -> None:
    put(machine.project, ".first/mail")
    machine.look()
    (kept,) = (machine.home / ".cache" / "signalbox" / "kinds").iterdir()
    kept.write_bytes(text)
    assert machine.look() == ("first", ".first/mail", True)
    assert machine.look() == ("first", ".first/mail", False)


def test_where_nothing_can_be_kept_it_is_read_each_time(machine: Machine) -> None:
    put(machine.project, ".first/mail")
    (machine.home / ".cache").touch()
    assert machine.look() == machine.look() == ("first", ".first/mail", True)
