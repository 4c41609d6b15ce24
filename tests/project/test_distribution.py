"""What is handed out: the same bytes whoever builds it, with nothing in it of the machine that did."""

from __future__ import annotations

import getpass
import os
import re
import socket
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

from tests.project.conftest import ROOT, run

OLD = 978307200.0


def build(place: Path, source: Path, *, umask: int = 0o022, **env: str) -> dict[str, Path]:
    """Build both distributions of a source tree; return them by the ends of their names."""
    own = {**{name: text for name, text in os.environ.items() if name != "SOURCE_DATE_EPOCH"}, **env}
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(place)]
    done = subprocess.run(words, cwd=source, env=own, umask=umask, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {kind: next(place.glob(f"*.{kind}")) for kind in ("tar.gz", "whl")}


@pytest.fixture(scope="session")
def sdist(built: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """The program's source distribution."""

    def fill(place: Path) -> None:
        run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", place, cwd=ROOT)

    return next(built("sdist", fill).glob("*.tar.gz"))


@pytest.fixture
def described(wheel: Path) -> Message:
    """The wheel's metadata."""
    with zipfile.ZipFile(wheel) as packed:
        [name] = [each for each in packed.namelist() if each.endswith(".dist-info/METADATA")]
        return message_from_string(packed.read(name).decode())


def test_other_places_times_and_permissions_give_the_same_bytes(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as packed:
        packed.extractall(tmp_path / "elsewhere", filter="data")
    [source] = (tmp_path / "elsewhere").iterdir()
    for path in source.rglob("*"):
        os.utime(path, (OLD, OLD))
    found = build(tmp_path / "made", source, umask=0o077, TZ="Asia/Tokyo", LC_ALL="C", USER="ann", HOME=str(tmp_path))
    assert found["tar.gz"].read_bytes() == sdist.read_bytes()
    assert found["whl"].read_bytes() == wheel.read_bytes()


def test_nothing_of_this_machine_is_in_them(sdist: Path, wheel: Path) -> None:
    foreign = {str(Path.home()), str(ROOT), socket.gethostname()} - {"/", "localhost"}
    marks = [re.compile(re.escape(each.encode()) + rb"\b") for each in foreign if len(each) > 4]
    with tarfile.open(sdist) as packed:
        for each in packed:
            assert (each.uid, each.gid, each.uname, each.gname, each.mtime) == (
                0,
                0,
                "",
                "",
                packed.getmembers()[0].mtime,
            )
            assert each.isfile()
            assert each.mode in (0o644, 0o755)
            file = packed.extractfile(each)
            data = file.read() if file else b""
            assert not [mark for mark in marks if mark.search(data)], each.name
    with zipfile.ZipFile(wheel) as made:
        assert {each.date_time for each in made.infolist()} == {(2020, 2, 2, 0, 0, 0)}
        assert not [each.filename for each in made.infolist() if "__pycache__" in each.filename]
        for each in made.infolist():
            assert not [mark for mark in marks if mark.search(made.read(each))], each.filename
    assert getpass.getuser() not in sdist.name + wheel.name


def test_the_source_distribution_is_the_whole_project(sdist: Path) -> None:
    known = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(known, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("this is no git checkout")
    with tarfile.open(sdist) as packed:
        names = {each.name.partition("/")[2] for each in packed}
    assert names == {name for name in done.stdout.splitlines() if (ROOT / name).is_file()} | {"PKG-INFO"}


def test_the_description_needs_no_file_beside_it(described: Message) -> None:
    page = described.get_payload()
    assert isinstance(page, str)
    assert described["Description-Content-Type"] == "text/markdown"
    assert page.lstrip().startswith("# Signalbox")
    assert "signalbox demo" in page or "make demo" in page
    outside = re.findall(r"\]\((?!https?://|mailto:|#)[^)]*\)|(?:src|href)=[\"']?(?!https?://|#)[^\"' >]*", page)
    assert not outside
    assert not re.search(r"^\|\s*\|", page, re.MULTILINE)  # no row that only held pictures
    readme = (ROOT / "README.md").read_text("utf-8")
    for block in re.findall(r"^```.*?^```", readme, re.MULTILINE | re.DOTALL):
        assert block in page


def test_the_metadata_is_complete(described: Message) -> None:
    assert (described["Name"], described["License-Expression"]) == ("signalbox-console", "MIT")
    assert described["Requires-Python"] == ">=3.11"
    assert described["Summary"]
    assert described.get_all("License-File") == ["LICENSE"]
    assert set(described.get_all("Provides-Extra") or []) >= {"agentazall", "all", "mcp", "nats", "serve"}
    assert [each for each in described.get_all("Classifier") or [] if each.endswith(":: 3.11")]
