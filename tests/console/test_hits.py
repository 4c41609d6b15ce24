"""What a search found, where it is shown: in the rows of the list, in the lines of a conversation."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from console.panes.hit_lines import first_hit
from console.panes.hit_rows import HitRows, hit_rows
from console.panes.message_lines import MessageLines, RenderedText
from console.render.excerpts import excerpt_of, find_spans, mark_pieces, mark_strip
from console.settings.config import Config
from mailstore.queries.language.tree import Pattern, Sought, SoughtWords, sought_in
from mailstore.queries.query import parse
from mailstore.state.views import View
from tests.console.fake_screen import fake_screen
from tests.console.screen_text import opened
from tests.console.test_searching import search, write_mail
from tests.mailboxes import NOW

HIT = Style(reverse=True, bold=True)
TEXTS = st.text("aAbsSßİiẞﬁ Жж灯\u0307", max_size=12)


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("The Lamp, the lamp.", ["lamp"], ["Lamp", "lamp"]),
        ("Straße STRASSE strasse", ["strasse"], ["Straße", "STRASSE", "strasse"]),
        ("Straße", ["s"], ["S", "ß"]),
        ("Start art, ART", [Pattern.of_word("art")], ["art", "ART"]),
        ("lamp\noil lamp", [Pattern.of_word("lamp oil"), "lamp"], ["lamp\noil", "lamp"]),
        ("errs, errors, err", [Pattern("err(or)?s")], ["errs", "errors"]),
        ("a" * 60 + "b", [Pattern("(a|aa)+$"), "b"], ["b"]),
        ("İstanbul", ["i\u0307s"], ["İs"]),
        ("ﬁnal", ["i"], ["ﬁ"]),
        ("a.b a+b (x) [y]", ["a.b", "a+b", "(x", "[y]"], ["a.b", "a+b", "(x", "[y]"]),
        ("灯火 and lamp", ["火 a"], ["火 a"]),
        ("lamplight", ["lamp", "plight", "light"], ["lamplight"]),
        ("lamp lamp", ["lamp", "p l"], ["lamp lamp"]),
        ("aaaa", ["aa"], ["aaaa"]),
        ("nothing", ["", "x"], []),
        ("", ["x"], []),
    ],
)
def test_words_are_found_in_any_case(text: str, words: list[Sought], found: list[str]) -> None:
    assert [text[start:end] for start, end in find_spans(text, words)] == found


@given(TEXTS, st.lists(TEXTS.map(str.casefold), max_size=3))
def test_what_is_shown_is_what_a_search_matches(text: str, words: list[str]) -> None:
    spans = find_spans(text, words)
    assert bool(spans) == any(word in text.casefold() for word in words if word)
    assert [each for span in spans for each in span] == sorted({each for span in spans for each in span})
    pieces = mark_pieces(text, Style(), words, HIT)
    assert "".join(piece for piece, _ in pieces) == text
    strip = mark_strip(Strip([Segment(text[:3]), Segment(text[3:], Style(bold=True))]), spans, HIT)
    assert strip.text == text
    shown = "".join(segment.text for segment in strip if segment.style is not None and segment.style.reverse)
    assert shown == "".join(text[start:end] for start, end in spans)


def test_the_words_of_a_query_are_those_that_it_asks_for() -> None:
    query = parse('Lamp -dark ("Red Oil" OR subject:Ink) from:@Lib #ink is:unread after:2h -(a b) has:code', NOW)
    assert sought_in(query) == SoughtWords(("lamp", "red oil"), ("ink",), ("lib", "ink"))
    assert not sought_in(parse("is:unread -x", NOW))
    assert len(sought_in(parse(" ".join(f"w{n}" for n in range(3000)), NOW)).texts) == 50


def test_an_excerpt_is_the_line_around_the_first_hit() -> None:
    text = "First line.\n\n" + "before " * 40 + "the\tLAMP\x1b[31m is\nlit " + "after " * 100
    excerpt = excerpt_of(text, ("is\nlit", "lamp"))
    assert excerpt.text[excerpt.at :].startswith("LAMP")
    assert "\x1b" not in excerpt.text
    assert "\n" not in excerpt.text
    assert excerpt.text.startswith("…")
    assert len(excerpt.text) < 500
    assert excerpt_of("lamp", ("lamp",)).at == 0
    assert not excerpt_of("oil", ("lamp",))


TEXT = [*["More."] * 6, "Less.", *["More."] * 22, "Deep."]


def lines_of(*texts: str, most: int = 0) -> MessageLines:
    strips = [Strip([Segment(text)]) for text in texts]
    text = RenderedText((), [strips])
    head = [Strip([Segment("ann → bob"), Segment("   "), Segment("14:00")])]
    foot = [Strip([Segment("✓ read by ann")])]
    return MessageLines(head, text, foot, most, lambda number: Strip([Segment(f"{number} hidden")]))


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("lamp", 2),
        ('"the lamp"', 1),
        ('"red oil lamp"', 2),
        ("more", 4),
        ("deep", 33),
        ("less", 10),
        ("ann", None),
        ("14", None),
        ("read", None),
    ],
)
def test_the_first_hit_in_a_text_is_found_also_where_a_phrase_is_wrapped(query: str, line: int | None) -> None:
    lines = lines_of("  Look at the", "  lamp: a red", "  oil lamp", *TEXT, most=10)
    words = sought_in(parse(query, NOW))
    assert first_hit(lines, HitRows(query, words, None)) == line  # type: ignore[arg-type]


async def test_an_excerpt_is_read_beside_other_work_and_once(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    mail.message("extra", "ann-00000001", "all", "No word of it here.", links=["ISS-7"])
    screen = fake_screen(mail, tmp_path)
    drawn: list[None] = []
    rows = hit_rows(
        screen.session,
        "needle OR iss-7",
        lambda work: screen.run_task(work, group="text"),
        lambda: drawn.append(None),
    )
    assert rows is not None
    mailbox = screen.session.mailbox
    reply, linked, other = (mailbox.message(key) for key in ("m2", "extra", "m3"))
    assert reply is not None
    assert linked is not None
    assert other is not None
    assert [rows.excerpt(each) for each in (reply, linked, other)] == [None, None, None]
    await screen.finish()
    assert drawn == [None]
    found = rows.excerpt(reply), rows.excerpt(linked), rows.excerpt(other)
    hits = [each.text[each.at :] if each is not None else "" for each in found[:2]]
    assert hits == ["needle in the reply: heureka.", "ISS-7"]
    assert not found[2]
    for room in (4, 10, 30, 200):
        pieces = rows.second("bob-00000001", found[0], room, screen.text_styles)  # type: ignore[arg-type]
        assert room < 10 or any(style.reverse and text == "needle" for text, style in pieces)
    screen.close()


def marked(pane: Widget) -> list[str]:
    """Return the words that a pane shows as hits, from top to bottom."""
    lines = [pane.render_line(y) for y in range(pane.size.height)]
    return [each.text for line in lines for each in line if each.style and each.style.reverse and each.style.bold]


@pytest.mark.parametrize("is_plain", [False, True])
async def test_hits_are_shown_in_the_list_and_in_the_conversation(
    is_plain: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_plain:
        monkeypatch.setenv("NO_COLOR", "1")
    mail = write_mail(tmp_path)
    long = "\n\n".join(f"Paragraph {number} of this message." for number in range(80))
    text = f"{long}\n\nThe Zebra stands **here**.\n\n{long}"
    mail.message("long", "bob-00000001", "user", text, ago=500, subject="Long")
    async with opened(mail.data, size=(120, 30)) as seat:
        await search(seat, "lamp", "3 threads")
        await seat.until(lambda: len(marked(seat.screen.threads)) >= 5)
        assert marked(seat.screen.threads) == ["lamp", "Lamp", "lamp", "lamp", "lamp"]
        assert "bob-00000001: Is the lamp on?" in seat.text
        assert "Search: lamp · 3 threads" in seat.lines[2]
        assert marked(seat.screen.conversation) == ["lamp"]
        # the middle of a long message that is cut to a screenful
        await seat.press("ctrl+u", *"zebra")
        await seat.until(lambda: marked(seat.screen.conversation) == ["Zebra"])
        assert "The Zebra stands here." in seat.text
        assert seat.screen.conversation.cursor_key == "long"
        await seat.sees("bob-00000001: …")
        # the same thread again, at another hit
        await seat.press("ctrl+u", *'"paragraph 79"')
        await seat.until(lambda: marked(seat.screen.conversation) == ["Paragraph 79"])
        await seat.press("enter", "escape")
        await seat.until(lambda: not marked(seat.screen.conversation) + marked(seat.screen.threads))


async def test_the_hits_of_a_saved_view_are_shown_too(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, config=Config(views={"Of light": "lamp"})) as seat:
        await seat.sees("Of light 2")
        seat.screen.show_view(View("saved", "Of light"))
        await seat.until(lambda: "lamp" in marked(seat.screen.conversation) and "Lamp" in marked(seat.screen.threads))
