"""The console in a real browser: mail, keys, sizes, tabs, and the ends of a connection."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from tests.console.test_in_a_terminal import mailbox
from tests.mailboxes import MailFiles
from tests.serve.browser import Browser
from tests.serve.served import Served, ended
from tests.servers.cuttable import CuttablePassage

pytestmark = pytest.mark.program("chromium")

Shared = tuple[Served, MailFiles]


def test_the_link_shows_the_mail_and_leaves_no_trace_of_its_token(browser: Browser, served: Shared) -> None:
    server, _ = served
    with browser.visit() as visit:
        tab = visit.tab(server.links["full"])
        tab.wait_for("Dry ink")
        tab.wait_for("May I?")
        tab.wait_for_title("(1) data/agent-mailbox.jsonl · Signalbox")
        assert tab.page.url == f"{server.address}/"
        (cookie,) = visit.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["expires"]) == (True, "Strict", -1)
        assert server.token not in cookie["value"]
        assert tab.call(tab.page.evaluate("document.cookie")) == ""
        assert not tab.page.complaints  # nothing that the page's policy forbids
        own = urlsplit(server.address).netloc
        assert {urlsplit(url).netloc for url in tab.page.requests} == {own}
        tab.call(tab.page.go_back())
        assert server.token not in tab.page.url


def test_a_message_is_written_and_arrives(browser: Browser, tmp_path: Path) -> None:
    mail = mailbox(tmp_path / "mail")
    home = tmp_path / "home"
    home.mkdir()
    with Served(mail.url, home) as server, browser.visit() as visit:
        tab = visit.tab(server.links["full"])
        tab.wait_for("Dry ink")
        tab.press("j")
        tab.wait_for("The ink is dry.")
        tab.press("r")
        tab.wait_for("reaches")
        tab.type("It is nearly dry now")
        tab.wait_for("nearly dry now")
        tab.press("Control+Backspace")  # else the browser's, or a single character
        tab.wait_for("nearly dry now", gone=True)
        tab.press("Control+Enter")
        tab.wait_for("5 messages")
        assert "It is nearly dry" in mail.mailbox.read_text(encoding="utf-8")
        with ended(server.consoles()):
            tab.close()
        assert server.stop()[0] == 0


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


def test_whoever_has_no_link_is_told_so(browser: Browser, served: Shared) -> None:
    server, _ = served
    with browser.visit() as visit:
        tab = visit.tab(f"{server.address}/?token={'0' * 32}")
        tab.wait_for_page("Open the whole link")
        assert not visit.cookies()
        assert not tab.page.complaints or all("401" in said for said in tab.page.complaints)


def test_a_link_from_another_site_works_but_its_scripts_do_not(browser: Browser, served: Shared) -> None:
    server, _ = served
    with elsewhere(server) as page, browser.visit() as visit:
        stranger = visit.tab(page)
        stranger.wait_for_page("socket closed")
        stranger.wait_for_page("fetch refused")
        stranger.call(stranger.page.click("a"))
        stranger.wait_for("Dry ink")


@contextmanager
def elsewhere(server: Served) -> Iterator[str]:
    """Serve a page of another site, which links to the server, and tries to use it with the visitor's cookie."""
    socket = server.address.replace("http", "ws")
    text = STRANGER.format(link=server.links["full"], socket=socket, address=server.address).encode()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as site:
        thread = Thread(target=site.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{site.server_port}/"
        finally:
            site.shutdown()
            thread.join()


STRANGER = """<a href="{link}">A link</a><p></p><script>
const say = (words) => document.querySelector("p").append(words + "; ");
new WebSocket("{socket}/ws").onclose = () => say("socket closed");
fetch("{address}/alive", {{credentials: "include"}}).then(() => say("fetch answered"), () => say("fetch refused"));
</script>"""


def test_a_lost_connection_is_told_and_comes_back(browser: Browser, served: Shared) -> None:
    server, _ = served
    with CuttablePassage(server.port) as passage, browser.visit() as visit:
        tab = visit.tab(server.links["full"].replace(str(server.port), str(passage.port)))
        tab.wait_for("Dry ink")
        with ended(server.consoles()):
            passage.cut()
            tab.wait_for_page("The connection is lost", "#cover")
        tab.call(tab.page.evaluate("() => { window.isOld = true; }"))
        passage.mend()
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
