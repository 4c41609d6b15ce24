"""`signalbox overview` and the picture in an HTML export: from mailbox files to text, JSON and SVG."""

from __future__ import annotations

import json
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailboxes import HOUR, MailFiles, iso

FIXTURES = Path(__file__).parents[1] / "fixtures"
ANN, BOB = "ann-00000001", "bob-00000001"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN, role="clerk", tags=["project:ink"], last_seen=iso(mail.now))
    mail.agent(BOB)
    mail.message("q", ANN, BOB, "Well?", ago=5 * HOUR, type="question")
    mail.message("news", ANN, "project:ink", "News.", ago=4 * HOUR)
    mail.message("a", BOB, ANN, "Later.", ago=2 * HOUR, thread="news")
    mail.message("odd", "<b>\x1b[2J", "all", "Hello.", ago=HOUR)
    mail.message("old", ANN, BOB, "Long ago.", ago=40 * 24 * HOUR, archived=True)
    mail.read("q", BOB, ago=4.5 * HOUR)
    mail.read("a", ANN, ago=3 * HOUR)
    return mail


def test_the_text_has_every_section(run: Run, mail: MailFiles) -> None:
    done = run("overview", "--store", mail.url)
    assert done.status == 0
    assert "4 sent · 2 read" in done.out
    agents = done.out.partition("\nAgents")[2].partition("\n\n")[0]
    [ann] = [line.split() for line in agents.splitlines() if ANN in line]
    assert [word for word in ann if word.isdigit()] == ["2", "1", "1"]
    for words in ("Messages in 15 min", "Agents", "Channels", "Who writes to whom", "Hot spots", "#ink"):
        assert words in done.out
    assert f"? {ANN} asked {BOB} and was not answered" in done.out
    assert "not counted: 1 read dated before its message" in done.out
    assert "\x1b" not in done.out
    assert "<b>␛[2J" in done.out


def test_the_json_is_as_documented(run: Run, mail: MailFiles) -> None:
    document = run("overview", "--since", "6h", "--json", "--store", mail.url).document
    page = (
        (Path(__file__).parents[2] / "docs" / "overview.md").read_text(encoding="utf-8").partition("## `signalbox")[2]
    )
    assert all(f"`{name}`" in page for name in document)
    assert all(f"`{name}`" in page for name in document["agents"][0])
    agents = {row["name"]: row for row in document["agents"]}
    assert (agents[ANN]["sent"], agents[ANN]["unread"], agents[BOB]["read"]) == (2, 1, 1)
    assert agents[BOB]["to_read"] == {"median_seconds": HOUR / 2, "number": 1}
    assert agents[BOB]["to_answer"] == {"median_seconds": 2 * HOUR, "number": 1}
    assert agents[BOB]["oldest_question"]["id"] == "q"
    assert agents["<b>\x1b[2J"]["state"] == "unregistered"
    assert {"from": ANN, "to": "project:ink", "messages": 1} in document["pairs"]
    assert document["left_out"]["early_reads"] == 1
    assert document["bar_seconds"] * len(document["sent"]) == 6 * HOUR


@pytest.mark.parametrize(("since", "sent"), [("all", 5), ("90m", 1), ("50d", 5), ("1h", 0)])
def test_any_time_can_be_the_beginning(run: Run, mail: MailFiles, since: str, sent: int) -> None:
    if since != "1h":
        assert sum(run("overview", "--since", since, "--json", "--store", mail.url).document["sent"]) == sent
    else:
        assert run("overview", "--since", since, "--at", "10m", "--store", mail.url).status == 0


def test_what_is_no_time_is_refused_and_an_empty_mailbox_is_not(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    assert run("overview", "--since", "soon", "--store", mail.url).status == 2
    done = run("overview", "--store", mail.url)
    assert done.status == 0
    assert "0 sent · 0 read" in done.out


@pytest.mark.parametrize("kind", ["agentazall", "agent-mail", "channels", "neo", "haak"])
def test_every_kind_of_mailbox_has_an_overview(run: Run, mail: MailFiles, kind: str) -> None:
    url = mail.url if kind == "haak" else f"{kind}:{FIXTURES / kind}"
    document = run("overview", "--since", "all", "--json", "--store", url).document
    messages = json.loads(run("export", "--archive", "--store", url).out)["messages"]
    assert sum(document["sent"]) + document["left_out"]["undated"] + document["left_out"]["later"] == len(messages)
    assert sum(row["sent"] for row in document["agents"]) == sum(document["sent"])
    assert "Who writes to whom" in run("overview", "--since", "all", "--store", url).out


class Elements(HTMLParser):
    """The tags of a document, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name == "href"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_an_html_export_shows_the_fleet_and_no_name_breaks_out(run: Run, mail: MailFiles) -> None:
    page = Elements()
    page.feed(run("export", "--format", "html", "--archive", "--store", mail.url).out)
    assert page.tags.count("svg") == 1
    assert {"title", "desc", "path", "rect"} <= set(page.tags)
    assert not {"script", "b2", "foreignobject", "image"} & set(page.tags)
    assert {ANN, BOB, "#ink", "unread", "to answer", "Who writes to whom"} <= set(page.texts)
    assert any("5 messages and 2 reads" in text for text in page.texts)
    assert "<b>␛[2J" in page.texts
    assert any("asked" in text and "was not answered" in text for text in page.texts)


def test_the_picture_of_a_selection_counts_only_that(run: Run, mail: MailFiles) -> None:
    page = Elements()
    page.feed(run("export", "--format", "html", "--thread", "q", "--store", mail.url).out)
    assert any("1 message and 1 read by" in text for text in page.texts)
    assert "#ink" not in page.texts
    empty = run("export", "--format", "html", "subject:nothing", "--store", mail.url).out
    assert "<svg" not in empty
