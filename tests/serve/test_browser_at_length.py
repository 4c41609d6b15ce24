"""Everything that the console does in a real browser: `make test-browser`."""

from __future__ import annotations

import signal
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.console.test_in_a_terminal import mailbox
from tests.mailboxes import MailFiles
from tests.serve.browser import Browser
from tests.serve.elsewhere import stranger
from tests.serve.served import Served, ended
from tests.servers.cuttable import CuttablePassage

pytestmark = [pytest.mark.program("chromium"), pytest.mark.browser]

Shared = tuple[Served, MailFiles]


def test_the_terminal_follows_the_window_and_a_reload_comes_back(browser: Browser, served: Shared) -> None:
    server, _ = served
    with browser.visit() as visit:
        tab = visit.tab(server.links["full"], width=1000, height=600)
        tab.wait_for("Dry ink")
        columns, lines = tab.size()
        tab.resize(500, 300)
        fewer = tab.size()
        assert fewer[0] < columns
        assert fewer[1] < lines
        tab.call(tab.page.reload(wait_until="commit"))
        tab.wait_for("Dry ink")
        assert tab.size() == fewer


def test_a_read_only_link_writes_nothing(browser: Browser, served: Shared) -> None:
    server, mail = served
    before = mail.mailbox.read_bytes()
    with browser.visit() as visit:
        tab = visit.tab(server.links["read-only"])
        tab.wait_for("observing")
        tab.press("r")
        tab.wait_for("observing: nothing is written")
        tab.press("|")
        tab.wait_for("no program is run")
        tab.press("x")
        tab.wait_for("thread.html")
        with tab.download() as files:
            tab.press("Enter")
        assert tab.suggested == "thread.html"
        assert "May I?" in files[0].read_text(encoding="utf-8")
        tab.press("?")
        tab.wait_for("type to filter")
        tab.type("browser")
        tab.wait_for("In the browser")
        # the same cookie opens the same kind of console again
        second = visit.tab(server.address)
        second.wait_for("observing")
    assert mail.mailbox.read_bytes() == before
    assert not list(server.links_file.parent.rglob("thread.html"))


def test_a_link_from_another_site_works_but_its_scripts_do_not(browser: Browser, served: Shared) -> None:
    server, _ = served
    with stranger(server) as page, browser.visit() as visit:
        tab = visit.tab(page)
        tab.wait_for_page("socket closed")
        tab.wait_for_page("fetch refused")
        tab.call(tab.page.click("a"))
        tab.wait_for("Dry ink")
        tab.call(tab.page.go_back())
        assert server.token not in tab.page.url


def test_a_lost_connection_is_told_and_comes_back(browser: Browser, served: Shared) -> None:
    server, _ = served
    with CuttablePassage(server.port) as passage, browser.visit() as visit:
        tab = visit.tab(server.links["full"].replace(str(server.port), str(passage.port)))
        tab.wait_for("Dry ink")
        with ended(server.consoles()):
            passage.cut()
            tab.wait_for_page("The connection is lost", "#cover")
        tab.call(tab.page.evaluate("() => { window.isOld = true; }"))
        passage.repair()
        tab.call(tab.page.wait_for_event("load"))
        tab.wait_for("Dry ink")


def test_the_person_ends_a_console_and_then_the_server(browser: Browser, tmp_path: Path) -> None:
    mail = mailbox(tmp_path / "mail")
    home = tmp_path / "home"
    home.mkdir()
    with Served(mail.url, home, "--max", "1") as server, browser.visit() as visit:
        tab = visit.tab(server.links["full"])
        tab.wait_for("Dry ink")
        second = visit.tab(server.address)
        second.wait_for_page("No more than 1 console", "#cover")
        tab.press("q")
        tab.wait_for_page("The console is closed", "#cover")
        second.call(second.page.click("#cover-deed"))
        second.wait_for("Dry ink")
        with ended(server.consoles()):
            status, out, err = server.stop(signal.SIGINT)
        assert (status, err) == (130, "")
        assert server.token not in out
        second.wait_for_page("signalbox serve has ended", "#cover")


def test_a_stalled_network_is_told_before_it_is_lost(browser: Browser, served: Shared) -> None:
    server, _ = served
    with CuttablePassage(server.port) as passage, browser.visit() as visit:
        tab = visit.tab(server.links["full"].replace(str(server.port), str(passage.port)))
        tab.wait_for("Dry ink")
        passage.hold()
        tab.call(tab.page.evaluate(LATER, 15))
        tab.wait_for_page("The connection is slow: no answer for", "#notice")
        passage.release()
        tab.call(tab.page.wait_for_selector("#notice", state="hidden"))
        tab.press("j")
        tab.wait_for("The ink is dry.")
        passage.hold()
        tab.call(tab.page.evaluate(LATER, 60))
        tab.wait_for_page("The connection is lost", "#cover")
        passage.release()


LATER = "(seconds) => { const now = Date.now; Date.now = () => now() + 1000 * seconds; }"
"""As if that time had gone by: the page looks every few seconds."""


def test_a_page_behind_a_silent_cut_leaves_its_only_place_to_the_next(browser: Browser, tmp_path: Path) -> None:
    mail = mailbox(tmp_path / "mail")
    home = tmp_path / "home"
    home.mkdir()
    with (
        Served(mail.url, home, "--max", "1") as server,
        CuttablePassage(server.port) as passage,
        browser.visit() as visit,
    ):
        tab = visit.tab(server.links["full"].replace(str(server.port), str(passage.port)))
        tab.wait_for("Dry ink")
        passage.hold()
        begun = monotonic()
        again = visit.tab(server.links["full"])
        again.wait_for("Dry ink")
        assert monotonic() - begun < 15  # its heartbeat takes longer to show it
        third = visit.tab(server.address)
        third.wait_for_page("No more than 1 console", "#cover")
        passage.release()
        tab.wait_for_page("No more than 1 console", "#cover")  # it lost its connection, and tried again


def test_the_title_and_a_dot_say_what_came(browser: Browser, tmp_path: Path) -> None:
    mail = mailbox(tmp_path / "mail")
    home = tmp_path / "home"
    (home / ".config" / "signalbox").mkdir(parents=True)
    settings = '[notifications]\nto_me = ["toast", "bell", "osc9"]\n'
    (home / ".config" / "signalbox" / "config.toml").write_text(settings, encoding="ascii")
    with Served(mail.url, home, "--theme", "timetable") as server, browser.visit() as visit:
        tab = visit.tab(server.links["full"])
        tab.wait_for("4 messages")
        tab.wait_for_title("(1) ")
        tab.call(tab.page.evaluate(HIDDEN, True))
        mail.message("m-5", "bob-00000001", "user", "\x1b]2;owned\x07<b>", ago=0, subject="</title>\x1b[2J\x07")
        tab.wait_for_title("● (2) data/agent-mailbox.jsonl · Signalbox")
        tab.wait_for_page("Mail came while this tab was hidden", "#notice")
        tab.call(tab.page.evaluate(HIDDEN, False))
        assert tab.wait_for_title("(2) ").startswith("(2)")
        background = tab.call(tab.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert background == "rgb(247, 243, 234)"  # of the theme, around the cells


HIDDEN = """
(isHidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}
"""


def test_copy_paste_mouse_and_links(browser: Browser, tmp_path: Path) -> None:
    mail = mailbox(tmp_path / "mail")
    mail.message("m-5", "bob-00000001", "user", "See https://site.example/a?b=c", ago=0, subject="A link")
    home = tmp_path / "home"
    home.mkdir()
    with Served(mail.url, home) as server, browser.visit() as visit:
        browser.call(visit.context.grant_permissions(["clipboard-read", "clipboard-write"]))
        tab = visit.tab(server.links["full"])
        tab.wait_for("5 messages")
        tab.wait_for("See https://site.example")
        tab.press("y")
        tab.wait_for("copied")
        assert tab.call(tab.page.evaluate("navigator.clipboard.readText()")) == "See https://site.example/a?b=c"
        tab.click("See https://site")  # the text of a message is no link
        tab.click("Dry ink")
        tab.wait_for("The ink is dry.")
        tab.press("r")
        tab.wait_for("reaches")
        tab.call(tab.page.evaluate("navigator.clipboard.writeText('pasted ä→\\nand more')"))
        tab.press("Control+v")
        tab.wait_for("pasted ä→")
        tab.press("Escape", "Escape")
        tab.wait_for("pasted ä→", gone=True)
        tab.click("A link")
        tab.wait_for("See https://site.example")
        tab.press("b")
        tab.wait_for("1 link")
        tab.press("Enter")
        tab.wait_for("Open a link to site.example?")
        browser.call(visit.context.route("https://site.example/**", _answered))
        assert len(visit.context.pages) == 1
        tab.press("y")
        tab.wait_for("Opened in another tab")
        opened = visit.context.pages[1]
        tab.call(opened.wait_for_url("https://site.example/a?b=c"))
        assert tab.call(opened.evaluate("[opener, document.referrer]")) == [None, ""]


def test_a_text_that_is_too_long_is_not_pasted_and_the_console_goes_on(browser: Browser, tmp_path: Path) -> None:
    mail = mailbox(tmp_path / "mail")
    home = tmp_path / "home"
    home.mkdir()
    with Served(mail.url, home) as server, browser.visit() as visit:
        tab = visit.tab(server.links["full"])
        tab.wait_for("Dry ink")
        tab.press("/")
        tab.call(tab.page.evaluate(PASTE, 9 << 20))
        tab.wait_for_page("too long to paste", "#notice")
        tab.call(tab.page.click("#notice-close"))
        tab.type("colour")
        tab.wait_for("colour")
        tab.wait_for("Dry ink", gone=True)


PASTE = """
(size) => {
  const data = new DataTransfer();
  data.setData("text/plain", "x".repeat(size));
  const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
  document.querySelector(".xterm-helper-textarea").dispatchEvent(event);
}
"""


async def _answered(route: Any) -> None:
    await route.fulfill(body="elsewhere", content_type="text/plain")


def test_a_draft_outlives_a_tab_that_is_closed_and_guests_do_not_see_it(browser: Browser, tmp_path: Path) -> None:
    mail = mailbox(tmp_path / "mail")
    home = tmp_path / "home"
    home.mkdir()
    with Served(mail.url, home, "--observe-link") as server, browser.visit() as visit, browser.visit() as guest:
        tab = visit.tab(server.links["full"])
        tab.wait_for("May I?")
        tab.press("r")
        tab.wait_for("reaches")
        tab.type("Not yet done")
        tab.wait_for("Not yet done")
        with ended(server.consoles()):
            tab.close()
        other = guest.tab(server.links["read-only"])
        other.wait_for("4 messages")
        assert "draft" not in other.wait_for("May I?")
        other.press("d")
        other.wait_for("No drafts")
        again = visit.tab(server.address)
        again.wait_for("1 draft")


def test_two_tabs_are_two_consoles_of_one_person(browser: Browser, served: Shared) -> None:
    server, _ = served
    with browser.visit() as visit:
        first, second = visit.tab(server.links["full"]), visit.tab(server.address)
        first.wait_for("May I?")
        second.wait_for("May I?")
        first.press("j")
        first.wait_for("The ink is dry.")
        assert "The ink is dry." not in second.wait_for("May I?")
        assert len(server.consoles()) >= 2
