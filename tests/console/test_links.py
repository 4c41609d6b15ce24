"""A link says where it leads; only web and mail addresses can be opened, and nothing in them is obeyed."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.opening import OPENERS
from console.render.link_list import links_of
from console.render.links import ascii_host, safe_target, urls_in
from tests.conftest import Open
from tests.console.screen_text import opened
from tests.console.test_render_markdown import INK, render_markdown, text_of
from tests.mailboxes import MailFiles

FAKE = "https://p\u0430ypal.com/login"
"""Its second message is Cyrillic."""


def drawn(source: str, width: int = 200) -> str:
    return text_of(render_markdown(source, width, INK))


def links(source: str) -> dict[str, str]:
    """Return what is a link of the terminal: text by target."""
    found: dict[str, str] = {}
    for strip in render_markdown(source, 200, INK):
        for text, style, _ in strip:
            if style is not None and style.link:
                assert style.underline
                found[style.link] = found.get(style.link, "") + text
    return found


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("[docs](https://a.example/b?c=1)", "docs ⟨https://a.example/b?c=1⟩"),
        ('[docs](https://a.example "title")', 'docs ⟨https://a.example "title"⟩'),
        ("[https://a.example](https://a.example)", "https://a.example"),
        ("[https://good.example](https://evil.example)", "https://good.example ⟨https://evil.example⟩"),
        ("see https://a.example/b.", "see https://a.example/b."),
        ("[run](javascript:alert(1))", "run ⟨javascript:alert(1)⟩"),
        ("[file](file:///etc/passwd)", "file ⟨file:///etc/passwd⟩"),
        ("![picture](https://a.example/b.png)", "!picture ⟨https://a.example/b.png⟩"),
        (f"[pay]({FAKE})", f"pay ⟨{FAKE} host xn--pypal-4ve.com⟩"),
        (f"go to {FAKE} now", f"go to {FAKE} ⟨host xn--pypal-4ve.com⟩ now"),
    ],
)
def test_a_link_says_where_it_leads(source: str, shown: str) -> None:
    assert drawn(source) == shown


def test_only_web_and_mail_addresses_are_links_of_the_terminal() -> None:
    assert links("[a](javascript:x) [b](file:///x) [c](data:text/html,x) ftp://d.example [e](//f.example)") == {}
    assert links("[two words](https://a.example) and mailto:ann@b.example") == {
        "https://a.example": "two words",
        "mailto:ann@b.example": "mailto:ann@b.example",
    }
    assert links(f"[pay]({FAKE})") == {"https://xn--pypal-4ve.com/login": "pay"}
    assert links("[https://good.example](https://evil.example)") == {"https://evil.example": "https://good.example"}
    assert links("[a](https://b.example/" + "x" * 3000 + ")") == {}


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://a.example/x y\x1b]8;;\x07", "https://a.example/x%20y%1B]8;;%07"),
        ("HTTPS://A.example/", "https://A.example/"),
        ("https://a.example/\u202e", "https://a.example/%E2%80%AE"),
        ("https://\u00fc.example:8080/p", "https://xn--tda.example:8080/p"),
        ("https://", ""),
        ("https://[::1", ""),
        ("mailto:", ""),
        ("javascript:alert(1)", ""),
        ("http:/x", ""),
        ("x", ""),
    ],
)
def test_a_target_has_nothing_that_a_terminal_or_a_program_would_obey(url: str, target: str) -> None:
    assert safe_target(url) == target


@given(st.text(max_size=60), st.sampled_from(["https://", "http://a.example/", "mailto:", ""]))
def test_a_target_is_printable_ascii_whatever_is_written(text: str, scheme: str) -> None:
    target = safe_target(scheme + text)
    assert re.fullmatch("[!-~]*", target)
    assert not target or re.match("https?://|mailto:", target)
    assert ascii_host(scheme + text).isascii()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(https://a.example/b(c)) and", "https://a.example/b(c)"),
        ("https://a.example/b, or", "https://a.example/b"),
        ("<https://a.example/b>", "https://a.example/b"),
        ('{"url":"https://a.example/b"}', "https://a.example/b"),
        ("xhttps://a.example", ""),
        ("https://a.example/␛]8;;", "https://a.example/␛]8"),
        ("https://", ""),
    ],
)
def test_a_url_ends_where_its_sentence_goes_on(text: str, found: str) -> None:
    assert "".join(text[start:end] for start, end in urls_in(text)) == found


def test_the_links_of_a_message_are_listed_once_each_in_order() -> None:
    source = "[one](https://a.example) https://b.example `https://c.example` https://a.example [d](javascript:x)\n\n"
    source += "```\ncurl https://e.example/x\n```"
    assert [(link.text, link.target, link.host) for link in links_of(source)] == [
        ("one", "https://a.example", "a.example"),
        ("https://b.example", "https://b.example", "b.example"),
        ("https://c.example", "https://c.example", "c.example"),
        ("https://e.example/x", "https://e.example/x", "e.example"),
    ]
    assert [link.host for link in links_of("https://good.example@evil.example mailto:a@b.example?cc=c")] == [
        "evil.example",
        "a@b.example",
    ]
    assert len(links_of("\n".join(f"https://a.example/{n}" for n in range(20_000)))) == 200


async def test_links_are_listed_shown_whole_copied_and_opened_without_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "opened"
    opener = tmp_path / "bin" / OPENERS[0]
    opener.parent.mkdir()
    opener.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$1" > "{log}"\n')
    opener.chmod(0o755)
    monkeypatch.setenv("PATH", f"{opener.parent}:{os.environ['PATH']}")
    mail = MailFiles(tmp_path)
    body = "[the docs](https://a.example/$(id)?b=1&c=`x`;ls) and https://b.example/two"
    mail.message("one", "ann-00000001", "user", body, subject="Links")
    mail.message("two", "ann-00000001", "user", "No address here.", subject="None", ago=60)
    async with opened(mail.data) as seat:
        await seat.open_thread("one")
        await seat.press("b")
        await seat.sees("2 links")
        await seat.press("j", "y")
        assert seat.app.clipboard == "https://b.example/two"
        assert seat.notice == "Link copied: https://b.example/two"
        await seat.press("b", "enter")
        await seat.sees("Open a link to a.example?")
        assert "https://a.example/$(id)?b=1&c=%60x%60;ls" in seat.text
        await seat.press("enter")
        assert not log.exists()  # the key that asked doesn't confirm
        await seat.press("b", "enter", "y")
        await seat.until(lambda: seat.notice.startswith("Opened: https://a.example/"))
        assert log.read_text().splitlines() == ["1", "https://a.example/$(id)?b=1&c=%60x%60;ls"]
        await seat.open_thread("two")
        await seat.press("b")
        await seat.until(lambda: seat.notice == "No links in this message")


async def test_without_a_program_that_opens_links_they_are_copied(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.message("one", "ann-00000001", "user", "https://b.example/two", subject="Links")
    async with opened(mail.data) as seat:
        await seat.open_thread("one")
        await seat.press("b", "enter", "y")
        await seat.until(lambda: seat.app.clipboard == "https://b.example/two")


def test_a_terminal_gets_the_links(tmp_path: Path, open_console: Open) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    body = "[the docs](https://a.example/b) [bad](javascript:x) \x1b]8;;https://evil.example\x07lure\x1b]8;;\x07"
    mail.message("one", "ann-00000001", "user", body, subject="Links", ago=60)
    terminal = open_console(mail.url)
    terminal.wait_for("the docs ⟨https://a.example/b⟩")
    linked = [command for command in terminal.output.commands if command.startswith("8;")]
    assert {re.sub(r"id=\d+-?\d*", "id", command) for command in linked} == {"8;id;https://a.example/b", "8;;"}
