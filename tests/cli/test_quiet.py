"""What the person muted, snoozed and starred, as the command line finds it."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from console.quiet.marks import KindOfMark, QuietMarks
from console.quiet.snooze import Occurrence, Snooze
from console.state.personal_state import PersonalState
from mailstore.records.scope import url_of
from tests.cli.conftest import Run
from tests.mailboxes import MailFiles

ANN, BOB = "ann-00000001", "bob-00000001"


def ids(run: Run, url: str, *words: str) -> list[str]:
    result = run("search", *words, "--json", "--store", url)
    return sorted(row["id"] for row in result.document)


def test_searches_find_marks_and_nothing_is_missing_from_them_or_from_an_export(tmp_path: Path, run: Run) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN, tags=["project:ink"])
    mail.message("ch", BOB, "project:ink", "To the channel.", ago=400)
    mail.message("you", BOB, ["project:ink", "user"], "To the person.", ago=300)
    mail.message("dm", BOB, ANN, "A message.", ago=200)
    mail.message("re", ANN, BOB, "Its answer.", ago=100, thread="dm")
    url = f"haak:{mail.mailbox}"
    marks = QuietMarks()
    marks.change(
        {
            (KindOfMark.MUTED_CHANNEL, "project:ink"): True,
            (KindOfMark.STARRED_MESSAGE, "ch"): True,
            (KindOfMark.SNOOZED_THREAD, "dm"): Snooze(Occurrence.TIME, mail.now, mail.now + 1000),
        }
    )
    with closing(PersonalState()) as state:
        marks.save(state.database, url)
    assert ids(run, url, "is:muted") == ["ch"]
    assert ids(run, url, "is:starred") == ["ch"]
    assert ids(run, url, "is:snoozed") == ["dm", "re"]
    assert ids(run, url, "is:unseen") == ["ch", "dm", "re", "you"]
    assert ids(run, url, "is:unseen", "-is:muted", "-is:snoozed") == ["you"]
    assert '"ch"' in run("export", "--format", "json", "--store", url).out
    several = url_of({"lab": url, "ops": url})
    assert ids(run, several, "is:starred") == ["lab/ch", "ops/ch"]
    [channel] = run("channels", "--json", "--store", url).document
    assert (channel["messages"], channel["unread"]) == (2, 1), "as the sidebar has it"
    watched = run("check", "--as", ANN, "--store", url).out
    assert "To the channel." in watched, "an agent knows nothing of what the person muted"
