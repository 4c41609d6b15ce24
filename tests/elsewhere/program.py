"""The program as it runs on another system: python -m tests.elsewhere.program SYSTEM COMMAND …"""

from __future__ import annotations

import sys
from typing import cast

from tests.elsewhere.pretending import System, become

if __name__ == "__main__":
    become(cast(System, sys.argv.pop(1)))
    from console.cli import command

    command()
