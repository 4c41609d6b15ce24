"""A mailbox of every kind, small, with something of everything; each is made anew in a folder.

Those of a kind are in `tests/kinds/KIND/samples.py`.
"""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path

from tests.hostile.copied_samples import Make
from tests.mailboxes import every_case, tangled

KINDS = Path(__file__).parents[1] / "kinds"


def _haak(folder: Path) -> str:
    mail, _ = every_case(folder, time.time())
    return mail.url


def _amended(folder: Path) -> str:
    mail = tangled(folder, time.time(), "amendment")
    mail.agent("cid-00000001", role="clerk", tags=["project:ink"])
    mail.intervention("acknowledge", "root", recipient="bob-00000001")
    mail.read("late", "ann-00000001")
    (mail.data / "agent-roster.json").write_text('[{"session_id": "dan-00000001", "status": "frozen"}]')
    return mail.url


def _of_kinds() -> dict[str, Make]:
    found: dict[str, Make] = {}
    for path in sorted(KINDS.glob("*/samples.py")):
        found |= import_module(f"tests.kinds.{path.parent.name}.samples").SAMPLES
    return found


SAMPLES: dict[str, Make] = {"haak": _haak, "amendment": _amended, **_of_kinds()}
