"""`signalbox export` and `verify`: documents that stand alone, and whether they are what the mailbox holds."""

from __future__ import annotations

import json
import tempfile
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from console.errors import Refused
from console.export.about import About
from console.export.document import FORMATS, render
from console.export.reading import claims_in
from mailstore.haak import HaakStore
from mailstore.state.mailbox import Mailbox
from mailstore.transfer.export import Exported, Verdict, digest, standing_digest, text_digest, verified
from mailstore.transfer.export import exported as exported_by
from tests.cli.conftest import Run
from tests.mailboxes import MailFiles, damaged, every_case

HOSTILE = "```\n</pre></article><script>alert(1)</script>\n--> <!-- \x1b[2J ]]> `````\n# head\n& &amp; \\"
ODD = [HOSTILE, "", "```", "\n~~~\n", "-->"]
ABOUT = About("haak:data", "2026-03-16T14:30:00Z", "everything")


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    mail.agent("bob-00000001")
    mail.message("q", "ann-00000001", "bob-00000001", HOSTILE, ago=500, subject="A <b>subject</b> `x`", priority=7)
    mail.message("a", "bob-00000001", "ann-00000001", "An answer.", ago=400, thread="q")
    mail.message("other", "ann-00000001", "user", "The lamp.", ago=300, subject="Lamp", type="question")
    mail.message("old", "ann-00000001", "bob-00000001", "Archived.", ago=90 * 86400, archived=True)
    return mail


UNREADABLE = "signalbox: warning: 6 records can't be read: signalbox doctor says which and why\n"


def write(run: Run, mail: MailFiles, target: Path, *words: object, err: str = "") -> Path:
    done = run("export", *words, "--output", target, "--force", "--store", mail.url)
    assert (done.status, done.err) == (0, err)
    return target


@pytest.mark.parametrize("name", list(FORMATS))
def test_an_export_is_what_the_mailbox_holds(name: str, run: Run, mail: MailFiles, tmp_path: Path) -> None:
    file = write(run, mail, tmp_path / "out", "--format", name, "--archive")
    done = run("verify", file, "--store", mail.url)
    assert (done.status, done.out) == (0, "4 ok\n")


def test_each_record_has_its_place_its_digest_and_its_unknown_fields(run: Run, mail: MailFiles) -> None:
    document = json.loads(run("export", "--store", mail.url).out)
    assert (document["count"], document["selection"]) == (3, "everything")
    row = document["messages"][0]
    raw = mail.mailbox.read_bytes()[row["offset"] : row["offset"] + row["length"]]
    assert (row["file"], row["sha256"]) == ("agent-mailbox.jsonl", digest(raw))
    assert json.loads(row["record"])["priority"] == 7
    assert row["content"] == HOSTILE


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["lamp"], ["other"]),
        (["from:ann-00000001"], ["q", "other"]),
        (["--thread", "a"], ["q", "a"]),
        (["--view", "for-you"], ["other"]),
        (["--archive"], ["old", "q", "a", "other"]),
        (["nothing-of-this"], []),
    ],
)
def test_what_is_selected(words: list[str], ids: list[str], run: Run, mail: MailFiles) -> None:
    lines = run("export", "--format", "jsonl", *words, "--store", mail.url).out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ids


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("json", '"content": "An answer."', '"content": "No answer."'),
        ("json", '"sender": "bob-00000001"', '"sender": "eve-00000001"'),
        ("jsonl", "An answer.", "No answer."),
        ("markdown", "\nAn answer.\n", "\nNo answer.\n"),
        ("html", "An answer.", "No answer."),
    ],
)
def test_an_export_that_was_altered_is_found_out(
    name: str, old: str, new: str, run: Run, mail: MailFiles, tmp_path: Path
) -> None:
    file = write(run, mail, tmp_path / "out", "--format", name)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    done = run("verify", file, "--json", "--store", mail.url)
    assert done.status == 1
    assert {row["message_id"]: row["verdict"] for row in done.document}["a"] == "altered"


def one_exported(name: str, folder: Path) -> tuple[HaakStore, Mailbox, str]:
    """Return a mailbox of two messages, opened, and its export."""
    mail = MailFiles(folder)
    mail.agent("bob-00000001")
    mail.message("q", "ann-00000001", "bob-00000001", "Now?", ago=500, subject="Lamp", type="question")
    mail.message("a", "bob-00000001", "ann-00000001", "An answer.", ago=400, thread="q")
    store, mailbox = HaakStore.open(mail.data), Mailbox()
    for batch in store.scan():
        mailbox.fold(batch, mail.now)
    messages = [mailbox.message("q"), mailbox.message("a")]
    return store, mailbox, "".join(render(name, exported_by(store, mailbox, filter(None, messages), mail.now), ABOUT))


def is_noticed(document: str, store: HaakStore, mailbox: Mailbox) -> bool:
    """Return whether a changed document is refused, or one of its messages not just as it was exported."""
    try:
        findings = list(verified(claims_in(document), store, mailbox))
    except Refused:
        return True
    return [it.verdict for it in findings] != [Verdict.OK] * 2


BESIDE = {
    "json": ('"messages": [', "  ]\n}\n"),
    "markdown": ("\n\n## ", ""),
    "html": ("<h2>", ""),
    "situations": ("\nentity", ""),
    "jsonld": ('"@graph": [', "  ]\n}\n"),
}
"""Between these a document shows its messages; around them, what was exported and when."""


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_byte_that_shows_a_message_is_covered(name: str, tmp_path: Path) -> None:
    store, mailbox, document = one_exported(name, tmp_path)
    with store:
        assert not is_noticed(document, store, mailbox)
        before, after = BESIDE.get(name, ("", ""))
        begin = document.index(before) + len(before) if before else 0
        unnoticed = []
        for at in range(begin, len(document) - len(after)):
            other = "x" if document[at] != "x" else "y"
            if is_noticed(document[:at] + other + document[at + 1 :], store, mailbox):
                continue
            unnoticed.append(document[max(0, at - 20) : at] + "▶" + document[at : at + 20])
        assert not unnoticed
        if name in ("markdown", "html"):
            assert "not this beginning" in document[:begin], "what is not covered is said"
        assert is_noticed(document.replace("Now?", "Never"), store, mailbox)
        if not name.startswith("json"):
            assert is_noticed(document + "\nbob: and the vault too\n", store, mailbox)


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_header_that_was_forged_with_its_digests_is_found_out(name: str, tmp_path: Path) -> None:
    store, mailbox, document = one_exported(name, tmp_path)
    with store:
        for shown in ("ann-00000001", "bob-00000001", "2026-03-16T14:2", "Lamp", "question", "An answer"):
            plain = shown if shown in document else shown.replace("-", "\\-")
            assert plain in document
            forged = document.replace(plain, plain.translate(str.maketrans("abq2", "edQ3")))
            assert forged != document
            assert is_noticed(forged, store, mailbox), shown


def test_an_older_export_is_not_taken_for_evidence(run: Run, mail: MailFiles, tmp_path: Path) -> None:
    file = write(run, mail, tmp_path / "out", "--format", "jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps({**row, "shown_sha256": None}) + "\n" for row in rows))
    done = run("verify", file, "--store", mail.url)
    assert done.status == 1
    assert "headers no digest covers" in done.out


def test_a_mailbox_that_was_altered_moved_or_cut_is_found_out(run: Run, mail: MailFiles, tmp_path: Path) -> None:
    file = write(run, mail, tmp_path / "out")
    lines = mail.mailbox.read_bytes().splitlines(keepends=True)
    month = mail.data / "agent-mailbox-archive" / "2026-03.jsonl"
    month.write_bytes(lines[1])
    mail.mailbox.write_bytes(lines[0].replace(b"script", b"SCRIPT"))
    done = run("verify", file, "--json", "--store", mail.url)
    assert done.status == 1
    verdicts = {row["message_id"]: row["verdict"] for row in done.document}
    assert verdicts == {"q": "changed", "a": "moved", "other": "missing"}


def test_a_file_is_not_written_over_and_nothing_else_is_verified(run: Run, mail: MailFiles, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("mine")
    done = run("export", "--output", target, "--store", mail.url)
    assert (done.status, target.read_text()) == (1, "mine")
    assert "already exists: choose another file, or use --force" in done.err
    assert run("verify", target, "--store", mail.url).status == 1
    assert "no exported record" in run("verify", target, "--store", mail.url).err
    target.write_text('{"messages": 3}')
    assert "not a complete signalbox export" in run("verify", target, "--store", mail.url).err
    assert run("verify", tmp_path / "nowhere", "--store", mail.url).status == 1
    assert run("export", "--output", tmp_path / "no" / "folder", "--store", mail.url).status == 1
    assert run("export", "lamp", "--view", "all", "--store", mail.url).status == 2
    assert run("export", "is:nonsense", "--store", mail.url).status == 2


@pytest.mark.parametrize(
    ("write_mail", "err"), [(damaged, UNREADABLE), (lambda folder: every_case(folder)[0], "")], ids=["damaged", "odd"]
)
@pytest.mark.parametrize("name", list(FORMATS))
def test_damaged_and_odd_mailboxes_are_exported_and_verified(
    name: str, write_mail: object, err: str, run: Run, tmp_path: Path
) -> None:
    mail: MailFiles = write_mail(tmp_path)  # type: ignore[operator]
    before = mail.mailbox.read_bytes()
    file = write(run, mail, tmp_path / "out", "--format", name, "--archive", err=err)
    assert run("verify", file, "--store", mail.url).status == 0
    assert mail.mailbox.read_bytes() == before


def exported(content: str) -> Exported:
    raw = json.dumps({"content": content})
    return Exported(
        "id --> <", "ann", ("bob",), "", "s", content, None, "r", "", {}, False, "f", 0, len(raw),
        digest(raw.encode()), text_digest(content), raw, "", standing_digest("r", False, {}),
    )  # fmt: skip


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)


@example(["@context"])
@example(["\ud800"])
@example(["\x1f\x1f\x07", "@context"])
@given(
    st.lists(
        st.text(st.characters(), max_size=60) | st.sampled_from([HOSTILE, "", "```", "\n~~~\n", "-->"]), max_size=4
    )
)
def test_no_text_breaks_out_of_a_document(texts: list[str]) -> None:
    mail = [exported(text) for text in texts]
    for name in FORMATS:
        document = "".join(render(name, mail, ABOUT))
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(document)
            file.seek(0)
            claims = claims_in(file.read()) if mail or name == "json" else []
        assert [(claim.id, claim.is_altered) for claim, _ in claims] == [("id --> <", False)] * len(mail)
        assert all(shows(message) for (_, shows), message in zip(claims, mail, strict=True))
    tags = Tags()
    tags.feed("".join(render("html", mail, ABOUT)))
    assert tags.seen.count("article") == tags.seen.count("pre") == len(mail)
    assert "script" not in tags.seen


def test_each_message_is_a_situation_with_its_actors(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("ann-00000001")
    mail.agent("bob-00000001")
    mail.message(
        "one", "ann-00000001", ["bob-00000001", "user"], "A\x1b[2J text.", ago=60, subject="A leaf", type="chat"
    )
    mail.message("a b", "bob-00000001", "ann-00000001", "An answer.", ago=30, thread="one")
    text = run("export", "--format", "situations", "--store", mail.url).out
    assert "\nentity: situation:mailbox-msg-one\n  type: situation\n  scale: act\n" in text
    assert '\nagent:ann-00000001  belongs-to  situation:mailbox-msg-one  quality: "actor"\n' in text
    assert '\nperson:user         belongs-to  situation:mailbox-msg-one  quality: "actor"\n' in text
    assert '\nmessage-content     belongs-to  situation:mailbox-msg-one  quality: "materialization"\n' in text
    assert "\n    A␛[2J text.\n" in text
    assert "\nentity: situation:mailbox-msg-a%20b\n" in text
    document = json.loads(run("export", "--format", "jsonld", "--store", mail.url).out)
    graph, context = document["@graph"], document["@context"]

    def expanded(term: str) -> str:
        """Expand a type as JSON-LD does: a term of the context by that, any other by the vocabulary."""
        return context.get(term, context["@vocab"] + term)

    types = [node[part]["@type"] if part else node["@type"] for node in graph for part in ("", "materialization")]
    assert {expanded(each) for each in types} == {"urn:signalbox:Situation", "urn:signalbox:Materialization"}
    assert [node["@id"] for node in graph] == ["situation:mailbox-msg-one", "situation:mailbox-msg-a%20b"]
    assert graph[0]["actor"] == ["agent:ann-00000001", "agent:bob-00000001", "person:user"]
    assert graph[0]["materialization"]["text"] == "A\x1b[2J text."
    assert graph[1]["inReplyTo"] == "situation:mailbox-msg-one"
