"""A link says where it leads; only web and mail addresses can be opened, and nothing in them is obeyed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.render.link_list import links_of
from console.render.links import ascii_host, safe_target, urls_in
from tests.console.test_render_markdown import INK, render_markdown, text_of

FAKE = "https://p\u0430ypal.com/login"
"""Its second letter is Cyrillic."""


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
