"""Install the programs and run their tests, away from every network but loopback where the machine allows it.

python -m tests.agents [PROGRAM ...] [-- PYTEST WORDS]
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys
import tempfile

from tests.agents.install import install
from tests.agents.programs import PROGRAMS, program_named

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def main(words: list[str]) -> None:
    """Install, then become pytest."""
    at = words.index("--") if "--" in words else len(words)
    names, rest = words[:at], words[at + 1 :]
    try:
        wanted = [program_named(name) for name in names] or list(PROGRAMS)
    except KeyError as error:
        sys.exit(f"unknown program {error}: name one of {', '.join(program.name for program in PROGRAMS)}")
    install(wanted)
    _leave_the_network()
    os.environ.setdefault("TMPDIR", tempfile.gettempdir())  # not below /dev: a program's sandbox has its own there
    argv = [sys.executable, "-m", "pytest", "-m", "agents", *(rest or ["tests/agents"])]
    os.execv(sys.executable, argv)


def _leave_the_network() -> None:
    """Go on in a network namespace that has nothing but loopback, where this user may make one."""
    if not sys.platform.startswith("linux") or ctypes.CDLL(None).unshare(CLONE_NEWNET) != 0:
        print("the programs are not kept from the network here: that takes Linux and its superuser")
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


main(sys.argv[1:])
