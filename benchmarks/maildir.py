"""Write a mailbox's messages as a maildir, for programs that read only that.

python -m benchmarks.maildir DIR OUT
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from email.utils import format_datetime
from pathlib import Path

from benchmarks.bench import MAILBOX


def write(data: Path, maildir: Path) -> None:
    """Write one file per message into a new maildir."""
    for name in ("cur", "new", "tmp"):
        (maildir / name).mkdir(parents=True)
    with (data / MAILBOX).open("rb") as file:
        for at, line in enumerate(file):
            record = json.loads(line)
            (maildir / "cur" / f"{at:09}.{record['id']}.host:2,").write_text(message(record))


def message(record: dict[str, str]) -> str:
    """Return a message in the Internet message format (RFC 5322)."""
    heads = {
        "From": f"{record['sender']}@localhost",
        "To": f"{record['recipient'].replace(':', '-')}@localhost",
        "Subject": record["subject"],
        "Date": format_datetime(datetime.fromisoformat(record["timestamp"])),
        "Message-ID": f"<{record['id']}@localhost>",
    }
    if record["thread"]:
        heads["In-Reply-To"] = f"<{record['thread']}@localhost>"
    return "".join(f"{name}: {value}\n" for name, value in heads.items()) + f"\n{record['content']}\n"


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
