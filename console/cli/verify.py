"""`signalbox verify FILE`: compare an export with the mailbox."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Annotated

import msgspec

from console.cli.document import JsonOutput
from console.cli.loading import loaded
from console.cli.options import mailbox_options
from console.cli.plain import columns, put
from console.errors import Refused
from console.export.reading import claims_in
from mailstore.errors import reason_of
from mailstore.transfer.export import Verdict, verified


class FindingRow(msgspec.Struct, frozen=True):
    """The result of comparing one record of an export with the mailbox."""

    message_id: Annotated[str, "The id of the message in the export."]
    verdict: Annotated[
        Verdict,
        "Unchanged, found at another place, changed, missing, altered in the export itself, or without a digest.",
    ]
    reason: Annotated[str, "The place of the record, or what is wrong."]


ROWS = JsonOutput(list[FindingRow])
OUTPUTS = (ROWS,)

STATUSES = {1: "a record differs from the mailbox, or is not in it"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="An export, in any format")
    mailbox_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the records that differ, and counts; return 1 if any record differs."""
    try:
        text = Path(args.file).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise Refused(
            f"{args.file} can't be read ({reason_of(error)})",
            "check the path and its permissions",
            "E170",
        ) from error
    claims = claims_in(text)
    with loaded(args) as mail:
        findings = list(verified(claims, mail.store, mail.mailbox))
    bad = [finding for finding in findings if not finding.is_good]
    if args.json:
        ROWS.put([FindingRow(finding.claim.id, finding.verdict, finding.words) for finding in findings])
    else:
        if bad:
            put(
                columns(
                    [(finding.verdict.value, finding.claim.id, finding.words) for finding in bad],
                    ("verdict", "message", "why"),
                )
            )
        counts = Counter(finding.verdict.value for finding in findings)
        put(", ".join(f"{number} {verdict}" for verdict, number in counts.items()) or "Empty export: nothing to check")
    return 1 if bad else 0
