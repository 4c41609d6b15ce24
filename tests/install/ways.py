"""The ways to install the program, each into an environment that starts empty: a home, a PATH, nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
KEPT = ("PIP_", "UV_", "SSL_", "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""How this machine reaches a package index: all that is inherited."""
SECONDS = 600.0


UV_TOOL = ".local/share/uv/tools/signalbox-console"
OLDEST = f"uv pip compile --quiet --resolution lowest-direct --output-file oldest.txt '{ROOT / 'pyproject.toml'}'"
PROGRAMS = (("pipx", "pipx"), ("uv", "uv"), ("uv", "uvx"))


class Failed(Exception):
    """A command did not do what it should; says which and what it wrote last."""


class Done(NamedTuple):
    """What a command printed, its exit status, and how long it ran, in seconds."""

    status: int
    out: str
    err: str
    seconds: float


class Empty:
    """An environment with nothing in it: a home of its own, and a PATH with Python, the tools and a shell."""

    def __init__(self, home: Path, python: str, tools: Sequence[Path]) -> None:
        self.home = home
        self.programs = home / ".local" / "bin"
        bare = home / "bin"
        for folder in (self.programs, bare):
            folder.mkdir(parents=True)
        (bare / "python3").symlink_to(python)
        for tool in (*tools, Path("/bin/sh")):
            (bare / tool.name).symlink_to(tool)
        inherited = {name: text for name, text in os.environ.items() if name.upper().startswith(KEPT)}
        self.env: Mapping[str, str] = {
            **inherited,
            "HOME": str(home),
            "PATH": f"{self.programs}:{home / 'own' / 'bin'}:{bare}",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def run(self, *words: str | Path, given: str = "") -> Done:
        """Run a command in the home folder."""
        start = time.monotonic()
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.home,
            env=self.env,
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - start)

    def must(self, *words: str | Path, given: str = "") -> Done:
        """Run a command that has to succeed. Raises Failed."""
        done = self.run(*words, given=given)
        if done.status:
            said = "\n".join((done.out + done.err).splitlines()[-20:])
            raise Failed(f"{' '.join(map(str, words))}\nended with status {done.status}:\n{said}")
        return done


class Way(NamedTuple):
    """One way to install: its one command, with the wheel in place of `WHEEL`, and where that puts things."""

    name: str
    tools: tuple[str, ...]
    commands: tuple[str, ...]
    environment: str

    def installed(self, empty: Empty, wheel: Path, extras: str = "") -> Done:
        """Install the wheel. Raises Failed."""
        wanted = f"'signalbox-console{extras} @ {wheel.as_uri()}'" if extras else f"'{wheel}'"
        return empty.must("sh", "-c", " && ".join(self.commands).replace("WHEEL", wanted))


WAYS = {
    way.name: way
    for way in (
        Way(
            "pip",
            (),
            ("python3 -m venv own", "own/bin/pip install -q WHEEL"),
            "own",
        ),
        Way("pipx", ("pipx",), ("pipx install WHEEL",), ".local/share/pipx/venvs/signalbox-console"),
        Way("uv", ("uv", "uvx"), ("uv tool install WHEEL",), UV_TOOL),
        Way("oldest", ("uv", "uvx"), (OLDEST, "uv tool install --constraints oldest.txt WHEEL"), UV_TOOL),
    )
}


def megabytes(folder: Path) -> float:
    """Return what the files of a folder take, links left out."""
    sizes = (path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(sizes) / 1e6


def tools_in(folder: Path) -> dict[str, Path]:
    """Install pipx and uv, each by itself (pipx would use uv), and return the programs. Raises Failed."""
    for name in ("pipx", "uv"):
        made = [sys.executable, "-m", "venv", str(folder / name)]
        filled = [str(folder / name / "bin" / "pip"), "install", "-q", name]
        for words in (made, filled):
            done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
            if done.returncode:
                raise Failed(f"{' '.join(words)}\n{done.stderr}")
    return {program: folder / name / "bin" / program for name, program in PROGRAMS}
