"""Small mailboxes of this kind, with something of everything, for the hostile tests."""

from __future__ import annotations

from pathlib import Path

from tests.hostile.copied_samples import Make
from tests.kinds.beads.beads_town import gas_town


def _beads(folder: Path) -> str:
    return f"beads:{gas_town(folder / 'town').root}"


def _beads_tables(folder: Path) -> str:
    return f"beads:{gas_town(folder / 'town', 'tables').root}"


SAMPLES: dict[str, Make] = {"beads": _beads, "beads-tables": _beads_tables}
