"""Shells and other programs that surround ours, where they are installed."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mailboxes import MailFiles
from tests.terminal import ROOT, Terminal, environment

STANDARD = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin"
ODD = "$(touch pwned);'\"`x` \\ & é#1"
"""The name of an agent that means the worst to a shell."""

ShellStart = Callable[[str], Terminal]
PROMPTS = {
    "bash": (["--norc", "--noprofile", "-i"], "PS1='ready> '"),
    "zsh": (["-f", "-i"], "PS1='ready> '; autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' menu no"),
    "fish": (
        ["--no-config", "-i"],
        "function fish_prompt; echo -n 'ready> '; end; set -g fish_autosuggestion_enabled 0",
    ),
}
SOURCED = {"fish": "signalbox completion fish | source"}


def installed(name: str) -> str:
    """Return the path of a program; skip the test where it is missing."""
    path = shutil.which(name, path=f"{os.environ.get('PATH', '')}:{STANDARD}")
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path / "mail", now=time.time())
    mail.agent("ann-00000001", role="steward", tags=["project:ink"])
    mail.agent("bob-00000001", status="dead")
    mail.agent(ODD)
    mail.message("letter-1", "ann-00000001", "user", subject="About $(touch pwned) `lamps`")
    mail.message("letter-2", "ann-00000001", "bob-00000001", subject="Oil")
    mail.message("other-3", "bob-00000001", "project:ink", subject="Ink")
    return mail


@pytest.fixture
def programs(tmp_path: Path) -> str:
    """Return a folder with `signalbox` in it, as an installation leaves it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "signalbox"
    root, python = shlex.quote(str(ROOT)), shlex.quote(sys.executable)
    script.write_text(f'#!/bin/sh\nPYTHONPATH={root} exec {python} -m console "$@"\n')
    script.chmod(0o755)
    return str(folder)


def shell_environment(home: Path, programs: str, mail: MailFiles, **more: str) -> dict[str, str]:
    """Return the environment of a person who works with one mailbox."""
    env = environment(home, SIGNALBOX_STORE=mail.url, PATH=f"{programs}:{STANDARD}", **more)
    del env["PYTHONPATH"]
    return env
