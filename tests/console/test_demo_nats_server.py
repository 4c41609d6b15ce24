"""The demo's server ends with the demo, also where the kernel can't see to it."""

from __future__ import annotations

import os
import select
import subprocess
import sys

import pytest

from mailstore.kinds.nats.own_server import ENDS_WITH_US, WATCHED

PARENT = """
import os, subprocess, sys
program = [sys.executable, "-S", "-c", "print('runs', flush=True); import time; time.sleep(600)"]
words = [sys.executable, "-S", "-c", sys.argv[1], str(os.getpid()), *program]
kept = subprocess.Popen(words, stdin=subprocess.PIPE)
input()
"""


@pytest.mark.parametrize("way", [pytest.param(WATCHED, id="watched"), pytest.param(ENDS_WITH_US, id="by the kernel")])
def test_it_ends_with_a_demo_that_is_killed(way: str) -> None:
    if way is ENDS_WITH_US and sys.platform != "linux":
        pytest.skip("Linux alone can")
    words = [sys.executable, "-c", PARENT, way]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as demo:
        assert demo.stdout is not None
        assert demo.stdout.readline() == b"runs\n"
        demo.kill()
        assert select.select([demo.stdout], [], [], 20.0)[0]
        assert os.read(demo.stdout.fileno(), 1) == b""  # the last to hold the pipe has ended
