"""Searching and filtering: found as one types, told where a query breaks, and taken away again."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platformdirs import user_cache_path

from console.screens import searching
from console.search import hits as search_hits
from console.settings.config import Config, SearchSettings
from mailstore.haak import HaakStore
from mailstore.queries.grouping import BY, FIELDS, By, HitCounts, narrowed
from mailstore.queries.query import parse
from mailstore.queries.search import SearchContext, look_up
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View
from tests.console.screen_text import Seat, opened, settle
from tests.mailboxes import NOW, MailFiles, iso
from tests.unfetched import give_no_text_of


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"])
    mail.agent("bob-00000001")
    ann, bob = "ann-00000001", "bob-00000001"
    mail.message("m1", ann, bob, "The lamp is green.", ago=900, subject="Lamp")
    mail.message("m2", bob, ann, "And the needle in the reply: heureka.", ago=800, thread="m1")
    mail.message("m3", ann, "project:ink", "Nothing of the kind.", ago=700, subject="Ink")
    mail.message("m4", bob, "user", "Is the lamp on?", ago=600, subject="A question", type="question")
    mail.message("old", bob, ann, "The lamp of old.", ago=40 * 86400, archived=True, subject="Old lamp")
    return mail


def listed(seat: Seat) -> list[str]:
    """Return the subjects that the list shows."""
    threads = seat.screen.threads
    return [threads.source.key(at) for at in range(len(threads.source))]


async def search(seat: Seat, words: str, said: str) -> None:
    await seat.press("slash", *words)
    searching = seat.screen.parts.searching
    await seat.until(lambda: searching.query == words and said in seat.notice)  # and not for half of them
    await settle(seat.pilot)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("lamp", {"m1", "m4", "old"}),
        ("HEUREKA", {"m1"}),
        ('"lamp is"', {"m1"}),
        ("lamp -green", {"m4", "old"}),
        ("from:clerk", {"m1", "m3"}),
        ("to:user", {"m4"}),
        ("tag:ink", {"m3"}),
        ("type:question", {"m4"}),
        ("subject:ink OR heureka", {"m1", "m3"}),
        ("after:1d lamp", {"m1", "m4"}),
        ("nothing-of-this-is-there", set()),
    ],
)
async def test_what_is_typed_is_found_as_it_is_typed(words: str, found: set[str], tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await search(seat, words, f"{len(found)} thread")
        assert set(listed(seat)) == found
        assert seat.screen.focused is seat.screen.query_one("#search")


async def test_the_hit_is_what_is_shown_of_a_thread(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await search(seat, "heureka", "1 thread")
        await seat.press("enter")
        assert seat.screen.pane() == "threads"
        assert seat.screen.conversation.cursor_key == "m2"
        assert "heureka" in seat.text


@pytest.mark.parametrize(
    ("words", "where"), [("is:nonsense", "nonsense"), ("after:never", "never"), ('"open', "unclosed")]
)
async def test_a_query_that_can_not_be_read_says_where_it_breaks(words: str, where: str, tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(160, 40)) as seat:
        await search(seat, words, where)
        assert where in seat.lines[-1]
        assert seat.app.return_code is None


async def test_hits_are_gone_through_with_n_and_the_footer_says_so(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await search(seat, "lamp", "3 threads")
        await seat.press("enter")
        visited = [seat.screen.threads.cursor_key]
        for _ in range(3):
            await seat.press("n")
            visited.append(seat.screen.threads.cursor_key)
        assert "Hit 1 of 3" in seat.lines[-1]
        assert set(visited) == {"m1", "m4", "old"}
        assert visited[0] == visited[3]
        await seat.press("N")
        assert seat.screen.threads.cursor_key == visited[2]


async def test_escape_takes_the_search_away_and_everything_is_listed_again(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        everything = listed(seat)
        await seat.press("G")
        here = seat.screen.threads.cursor_key
        for keys, then in ((["escape"], here), (["enter", "escape"], "m1")):
            await search(seat, "heureka", "1 thread")
            await seat.press(*keys)
            assert listed(seat) == everything
            assert seat.screen.threads.cursor_key == seat.screen.conversation.root == then
            assert seat.screen.pane() == "threads"
            assert not seat.screen.query_one("#search").display


async def test_escape_leads_back_from_a_hit_that_the_view_does_not_list(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        seat.screen.show_view(View("agent", "ann-00000001"))
        await seat.press("2", "G")
        here = seat.screen.threads.cursor_key
        assert here == listed(seat)[-1] != listed(seat)[0]
        await search(seat, "type:question", "1 thread")
        await seat.press("enter")
        assert seat.screen.conversation.root == "m4"
        await seat.press("escape")
        assert seat.screen.threads.cursor_key == seat.screen.conversation.root == here


async def test_a_search_that_is_taken_away_before_its_hits_come_stays_away(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        everything = listed(seat)
        await seat.pilot.press("slash", *"heureka", "escape")
        for _ in range(12):
            await seat.pilot.pause(0.02)
        await settle(seat.pilot)
        assert listed(seat) == everything
        assert "Search" not in seat.lines[1]


async def test_what_was_typed_comes_to_nothing_once_the_bar_was_left(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        everything = listed(seat)
        await seat.press("slash")
        bar, searching = seat.screen.search_bar, seat.screen.parts.searching  # type: ignore[union-attr]
        searching.typed(bar.Typed("search", "heureka"))
        pause = searching._pauses
        await seat.press("escape")
        searching._ask_after(pause, "heureka")  # its timer came as it was ended
        searching.typed(bar.Typed("search", "heureka"))  # the last letter came after the end
        searching.typed(bar.Typed("filter", "heureka"))
        await settle(seat.pilot)
        assert listed(seat) == everything
        await seat.press("backslash", *"nothing such", "enter")
        assert seat.screen.listing.filter_text == "nothing such"


async def test_an_emptied_search_lists_everything(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        everything = listed(seat)
        await search(seat, "lamp", "3 threads")
        await seat.press(*["backspace"] * 4)
        await seat.until(lambda: listed(seat) == everything)


async def test_mail_that_comes_while_a_search_is_on_does_not_disturb_it(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data) as seat:
        await search(seat, "heureka", "1 thread")
        await seat.press("enter")
        mail.message("new", "bob-00000001", "ann-00000001", "Something else.", ago=0)
        await seat.until(lambda: "5 messages" in seat.lines[0])
        assert listed(seat) == ["m1"]


async def test_a_filter_lists_what_holds_its_words_in_subject_or_names(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        everything = listed(seat)
        await seat.press("backslash", *"LAMP")
        assert listed(seat) == ["m1", "old"]
        await seat.press("enter")
        assert "\\LAMP" in seat.lines[1]
        await seat.press("escape")
        assert listed(seat) == everything
        await seat.press("backslash", *"user")
        assert listed(seat) == ["m4"]
        await seat.press("escape")
        assert listed(seat) == everything


async def test_a_filter_that_holds_nothing_says_how_to_take_it_away(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("backslash", *"zzz")
        assert "Nothing matches." in seat.text
        assert "search by fields" not in seat.text
        assert "esc: clear the filter" in seat.text
        await seat.press("escape", "backslash", *"type:question")
        assert "A filter takes words only." in seat.text
        assert "/: search by fields" in seat.text


async def test_a_search_without_hits_says_so(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await search(seat, "zzz", "0 threads")
        assert "Nothing found for zzz." in seat.text


async def test_a_search_says_how_many_texts_could_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = MailFiles(tmp_path)
    mail.message("lost", "ann-00000001", "bob-00000001", "The lantern.", ago=20, subject="Talk")
    mail.message("kept", "ann-00000001", "bob-00000001", "A lantern.", ago=10, subject="Talk")
    answer_again = give_no_text_of(monkeypatch, "lost")
    async with opened(mail.data) as seat:
        await seat.press("slash", *"lantern", "enter")
        await seat.sees("1 message · 1 can't be read")
        answer_again()
        await seat.press("escape", "slash", *"lantern", "enter")
        await seat.sees("2 messages ")
        assert "can't be read" not in seat.text


async def test_what_is_found_comes_first_in_part_and_then_in_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_hits, "FIRST", 1)
    told: list[tuple[list[str], bool]] = []
    show = searching.Searching._show

    def note(part: searching.Searching, text: str, hits: search_hits.SearchHits) -> None:
        told.append((list(hits.threads), hits.is_done))
        show(part, text, hits)

    monkeypatch.setattr(searching.Searching, "_show", note)
    async with opened(write_mail(tmp_path).data) as seat:
        await search(seat, "lamp", "3 threads for lamp")
        assert told[-1] == (["m4", "m1", "old"], True)
        assert (["m4", "m1"], False) in told
        assert listed(seat) == ["m4", "m1", "old"]


async def test_a_search_ends_with_as_much_as_anybody_goes_through_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_hits, "MOST", 2)
    mail = write_mail(tmp_path)
    async with opened(mail.data, size=(160, 40)) as seat:
        await search(seat, "lamp", "2+ threads for lamp: before:")
        assert listed(seat) == ["m4", "m1"]
        older = seat.notice.partition("before:")[2].split()[0]
        assert older == iso(mail.now - 900 + 1)
        await seat.press("enter", "slash", *f" before:{older}")
        await seat.until(lambda: listed(seat) == ["m1", "old"])


async def test_what_is_asked_while_mail_is_still_read_is_asked_again_when_all_is_there(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        seat.screen.mail_changed(True)
        await search(seat, "lamp", "3 threads so far for lamp")
        seat.screen.mail_changed(False)
        await seat.until(lambda: "3 threads for lamp" in seat.notice)


async def test_an_index_is_kept_in_the_cache_where_the_settings_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Path] = []
    monkeypatch.setattr(HaakStore, "keep_index", lambda store, folder: kept.append(folder))
    mail = write_mail(tmp_path)
    for is_wanted in (False, True):
        async with opened(mail.data, config=Config(search=SearchSettings(index=is_wanted))) as seat:
            await search(seat, "heureka", "1 thread")
    assert kept == [user_cache_path("signalbox") / "search"]
    assert not kept[0].is_relative_to(mail.data)


async def test_another_view_ends_the_filter_and_the_search(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await search(seat, "heureka", "1 thread")
        await seat.press("enter", "1", "g", "j", "enter")
        assert "For you" in seat.lines[1]
        assert listed(seat) == ["m4"]


async def test_a_search_is_narrowed_to_what_its_hits_have_in_common(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    mail.message("m5", "[b]x\x1b[2J", "concern:a b", "A lamp.", ago=500, subject="Odd")
    async with opened(mail.data) as seat:
        await seat.press("Q")
        await seat.until(lambda: seat.notice == "Search first: this narrows what was found")
        await search(seat, "lamp OR ink", "threads for lamp OR ink")
        await seat.press("enter", "Q")
        await seat.sees("Narrow lamp OR ink to")
        await seat.sees("2  sender bob-00000001")
        assert "type question" in seat.text
        assert "\x1b" not in seat.text
        await seat.press("2")
        await seat.until(lambda: seat.screen.parts.searching.query == "(lamp OR ink) from:=bob-00000001")
        await seat.until(lambda: len(listed(seat)) == 2)


@given(st.sampled_from(["lamp", "lamp OR ink", "-lamp", "type:question", "(lamp)"]), st.sampled_from(BY))
def test_what_is_counted_is_what_the_narrowed_search_finds(text: str, by: By) -> None:
    with TemporaryDirectory() as folder:
        mail = write_mail(Path(folder))
        mail.message("m5", "[b]x", "concern:a b", "A lamp.", ago=500, subject="Odd")
        mail.message("longer", "bob-00000001-2", "project:inkwell", "A lamp.", ago=450, type="questions")
        mail.message("m6", "ann-00000001", ["project:ink", "bob-00000001"], "A lamp.", ago=400)
        with HaakStore.open(mail.data) as store:
            mailbox = Mailbox()
            for batch in store.scan():
                mailbox.fold(batch, NOW)
            context = SearchContext(mailbox, store.search_text, NOW)

            def found(query: str) -> list[Message]:
                return [it for batch in look_up(parse(query, NOW), context, store.candidates) for it in batch]

            counts = HitCounts(mailbox)
            counts.add(found(text))
            for group in counts.groups(by):
                if by in FIELDS:
                    assert len(found(narrowed(text, group, NOW))) == group.messages, group
            assert sum(it.messages for it in counts.groups("sender")) == len(found(text))
