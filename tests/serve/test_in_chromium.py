"""A look at the console in a real browser; `make test-browser` looks at everything."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.console.test_in_a_terminal import mailbox
from tests.serve.browser import Browser
from tests.serve.elsewhere import stranger
from tests.serve.served import Served, ended

pytestmark = pytest.mark.program("chromium")


def test_the_link_shows_the_mail_where_it_is_answered(browser: Browser, tmp_path: Path) -> None:
    mail = mailbox(tmp_path / "mail")
    home = tmp_path / "home"
    home.mkdir()
    with Served(mail.url, home) as server, browser.visit() as visit:
        refused = visit.tab(f"{server.address}/?token={'0' * 32}")
        refused.wait_for_page("Open the whole link")
        assert not visit.cookies()
        assert all("401" in said for said in refused.page.complaints)
        tab = visit.tab(server.links["full"])
        tab.wait_for("May I?")
        tab.wait_for_title("(1) data/agent-mailbox.jsonl · Signalbox")
        assert tab.page.url == f"{server.address}/"
        (cookie,) = visit.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["expires"]) == (True, "Strict", -1)
        assert tab.call(tab.page.evaluate("document.cookie")) == ""
        with stranger(server) as page:
            other = visit.tab(page)  # with the cookie of the same browser
            other.wait_for_page("socket closed")
            other.wait_for_page("fetch refused")
        columns, lines = tab.size()
        tab.resize(1100, 640)
        assert tab.size() > (columns, lines)
        tab.press("j")
        tab.wait_for("The ink is dry.")
        tab.press("r")
        tab.wait_for("reaches")
        tab.type("It is nearly dry now")
        tab.wait_for("dry now")
        tab.press("Control+Backspace")  # else a single character, or the browser's
        tab.wait_for("dry now", gone=True)
        tab.press("Control+Enter")
        tab.wait_for("5 messages")
        written = mail.mailbox.read_text(encoding="utf-8")
        assert "It is nearly dry" in written
        assert "dry now" not in written
        assert not tab.page.complaints  # nothing that the page's policy forbids
        assert {urlsplit(url).netloc for url in tab.page.requests} == {urlsplit(server.address).netloc}
        with ended(server.consoles()):
            tab.close()
        assert server.token not in "".join(server.stop()[1:])
