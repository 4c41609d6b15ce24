"""What a release says: `python -m manual.release VERSION` prints the version's section of CHANGELOG.md.

It fails where the version isn't the project's own or has no dated section, so that a tag can't release anything else.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from console.cli.version import VERSION

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def section(text: str, version: str) -> str | None:
    """Return what a changelog says about a released version, None where it has no dated section for it."""
    found = re.search(
        rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return found[1].strip() if found else None


def main(arguments: list[str]) -> int:
    """Print the section of the named version; return 1 where it can't be released."""
    version = arguments[0] if arguments else ""
    if version != VERSION:
        print(
            f"the version is {VERSION}, not {version!r}: tag v{VERSION}, or change the version first", file=sys.stderr
        )
        return 1
    notes = section(CHANGELOG.read_text(encoding="utf-8"), version)
    if not notes:
        print(f"CHANGELOG.md has no section for {version}: add '## {version} - YYYY-MM-DD'", file=sys.stderr)
        return 1
    print(notes)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
