"""What is done where Linux's own ways are missing: on macOS, in WSL, in a machine without /proc."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from types import ModuleType

import platformdirs.macos
import platformdirs.unix
import pytest

from console.hooks.state_folder import state_home
from mailstore.errors import StoreError
from mailstore.files import flushing, holders, mounts, owned, watch
from mailstore.files.append import append_line
from mailstore.files.durable import Pending, sync_folder
from mailstore.files.holders import writers
from mailstore.files.mounts import silent_file_system
from mailstore.files.user_folders import user_folder
from mailstore.files.watch import wakeups
from mailstore.kinds.agentazall.sync import inbox
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]


def table_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Let the table of mounts say that a folder's device has a file system of a kind."""
    device = tmp_path.stat().st_dev
    lines = [
        "21 1 0:99999 / /proc rw,relatime - proc proc rw",
        "damaged",
        f"77 21 {os.major(device)}:{os.minor(device)} / /mnt/c rw,noatime shared:1 - {kind} C:\\134 rw,dirsync",
    ]
    (tmp_path / "mountinfo").write_text("\n".join(lines))
    monkeypatch.setattr(mounts, "MOUNTS", tmp_path / "mountinfo")


@pytest.mark.parametrize("kind", ["9p", "drvfs", "nfs4", "cifs", "fuse.sshfs"])
def test_file_systems_without_events_are_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    table_of(tmp_path, monkeypatch, kind)
    assert silent_file_system(tmp_path) == kind
    assert silent_file_system(tmp_path / "gone") == ""


def test_others_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table_of(tmp_path, monkeypatch, "ext4")
    assert silent_file_system(tmp_path) == ""
    monkeypatch.setattr(mounts, "MOUNTS", tmp_path / "no table")
    assert silent_file_system(tmp_path) == ""


async def is_woken(folder: Path) -> bool:
    async with aclosing(wakeups(folder)) as waking, asyncio.timeout(PATIENCE):
        await anext(waking)
        (folder / "new").touch()
        return await anext(waking)


def nowhere(*_: object) -> AsyncGenerator[bool, None]:
    """Stand for the events of a system that must not be asked for them."""
    raise AssertionError("events were waited for")


async def test_changes_are_looked_for_on_windows_drives_without_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_of(tmp_path, monkeypatch, "9p")
    monkeypatch.setattr(watch, "_events", nowhere)
    monkeypatch.setattr(watch, "TICK_SECONDS", 100.0)
    assert await is_woken(tmp_path)


@pytest.mark.parametrize("missing", ["watchfiles", "inotify"])
async def test_changes_are_looked_for_where_nothing_reports_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    if missing == "watchfiles":
        monkeypatch.setattr(watch, "_events", watch._asked)
        monkeypatch.setitem(sys.modules, "watchfiles", None)
    else:
        monkeypatch.setattr(watch, "_events", watch._queued)
        monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: ModuleType("a C library"))
    monkeypatch.setattr(watch, "TICK_SECONDS", 100.0)
    assert await is_woken(tmp_path)


@pytest.mark.parametrize("kind", ["CONFIG", "STATE", "CACHE"])
@pytest.mark.parametrize("platform", ["linux", "darwin"])
@pytest.mark.parametrize("chosen", ["", "relative/path", "/some where/else"])
def test_the_users_folders_are_those_of_platformdirs(
    kind: str, platform: str, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"XDG_{kind}_HOME", chosen)
    monkeypatch.setattr(sys, "platform", platform)
    other = platformdirs.macos.MacOS if platform == "darwin" else platformdirs.unix.Unix
    assert user_folder(kind) == getattr(other("signalbox"), f"user_{kind.lower()}_dir")  # type: ignore[arg-type]
    if kind == "STATE":
        assert state_home() == user_folder("STATE")


def test_the_disk_is_flushed_as_far_as_the_system_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def control(fd: int, command: int) -> int:
        asked.append(f"fcntl {command}")
        if command == 99:
            raise OSError(errno.ENOTSUP, "not here")
        return 0

    monkeypatch.setattr(fcntl, "fcntl", control)
    monkeypatch.setattr(os, "fsync", lambda fd: asked.append("fsync"))
    for command in (None, 51, 99):
        monkeypatch.setattr(flushing, "FULL_FLUSH", command)
        flushing.flush(0)
    assert asked == ["fsync", "fcntl 51", "fcntl 99", "fsync"]


def test_a_folder_that_can_t_be_flushed_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int) -> None:
        raise OSError(errno.EINVAL, "a folder")

    monkeypatch.setattr(os, "fsync", refuse)
    sync_folder(tmp_path)

    def fail(fd: int) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="broken"):
        sync_folder(tmp_path)


@pytest.mark.parametrize("missing", ["O_TMPFILE", "/proc"])
def test_a_new_file_appears_whole_without_files_that_have_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    if missing == "/proc":
        monkeypatch.setattr(owned, "OPEN_FILES", str(tmp_path / "no" / "fd"))
    else:
        monkeypatch.delattr(os, "O_TMPFILE")
    (tmp_path / "beside").touch(mode=0o640)
    like = (tmp_path / "beside").stat()
    with Pending(tmp_path / "new", b"whole", like) as file:
        assert not (tmp_path / "new").exists()
        assert file.appear()
    assert (tmp_path / "new").read_bytes() == b"whole"
    append_line(tmp_path / "log", b"{}", like=like)
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside", "log", "new"]


def test_room_is_reserved_where_nothing_allocates_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fallocate")
    monkeypatch.setattr(inbox, "RESERVED", 3 << 20)
    assert inbox.Spool(tmp_path, "one").waiting() == []
    [reserve] = tmp_path.rglob("reserve")
    assert reserve.stat().st_blocks * 512 >= 3 << 20


LSOF = """#!/bin/sh
echo p4711; echo cdaemon.py; echo f3; echo ar; echo "n$1"; echo f4; echo au; echo "n$1"
echo p12; echo cless; echo f3; echo ar; echo "n$1"; echo fcwd; echo "n$1.gone"; echo x
""".replace("$1", "$7")


def test_writers_are_those_that_lsof_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mail"
    file.touch()
    monkeypatch.setattr(holders, "PROCESSES", tmp_path / "no processes")
    monkeypatch.setattr(holders, "LSOF_PLACE", str(tmp_path))
    assert writers([file]) == []
    (tmp_path / "lsof").write_text(LSOF)
    (tmp_path / "lsof").chmod(0o755)
    assert writers([file]) == [holders.Holder(4711, "daemon.py", file)]
    monkeypatch.setattr(holders, "_is_leased_out", lambda path: None)
    assert holders.is_held(file) is True


@pytest.mark.skipif(not Path("/usr/bin/lsof").exists(), reason="lsof is not installed")
def test_a_writer_is_found_with_the_real_lsof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holders, "PROCESSES", tmp_path / "no processes")
    monkeypatch.setattr(holders, "LSOF_PLACE", "/usr/bin")
    with (tmp_path / "mail").open("a"), (tmp_path / "other").open("a"):
        assert [each.pid for each in writers([tmp_path / "mail"])] == [os.getpid()]


def test_a_store_keeps_its_contract_where_linux_own_ways_are_missing(tmp_path: Path) -> None:
    """Run a sample of the conformance suite; `python -m tests.elsewhere macos` runs all of it, and more."""
    words = [
        "tests/mailstore/test_conformance.py",
        "-k",
        "TestHaak and table and (follow or send or changes or archiv)",
        "--basetemp",  # or the folders of earlier runs are cleaned up first
        str(tmp_path / "run"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "tests.elsewhere", "macos", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout


def test_a_mailbox_that_is_refused_is_refused_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    with pytest.raises(StoreError):
        append_line(tmp_path / "no" / "folder", b"{}")
