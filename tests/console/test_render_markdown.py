"""A rendered text keeps every word of its source, obeys nothing, and costs no more than it should."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from console.render import lines, markdown
from console.render.elements import MarkdownStyles
from console.render.lines import LineSource
from console.render.safe import visible

INK = MarkdownStyles(
    text=Style(color="white"),
    muted=Style(color="bright_black"),
    accent=Style(color="yellow"),
    code=Style(color="cyan"),
    quote=Style(color="bright_black"),
    heading=Style(bold=True),
    link=Style(underline=True),
    code_theme="default",
)
MARKS = re.compile(r"[^\W_]+")


def strips_of(portions: Iterable[LineSource]) -> list[Strip]:
    return [portion[at] for portion in portions for at in range(len(portion))]


def render_markdown(text: str, width: int, palette: MarkdownStyles) -> list[Strip]:
    return strips_of(markdown.render_markdown(text, width, palette))


def render_plain(text: str, width: int, style: Style) -> list[Strip]:
    return strips_of(lines.render_plain(text, width, style))


def words_of(text: str) -> list[str]:
    return MARKS.findall(text)


def text_of(strips: list[Strip]) -> str:
    return "\n".join(strip.text.rstrip() for strip in strips)


def joined(strips: list[Strip]) -> str:
    """Return all that is drawn without blanks and frames, so that a wrapped word is found again."""
    return re.sub(r"[\s│▌┃╵╷─━┏┓┗┛┡┩┳┻╇╈┬┴┼├┤└┘┌┐]", "", text_of(strips))


SOURCES = {
    "html": "before <b onclick='run'>bold</b> after\n\n<!-- hidden comment -->\n\n<div>block</div>\n<script>x</script>",
    "link": 'see [the label](https://example.org/path?q=1 "the title") and <https://auto.example> here',
    "definition": '[ref]: https://example.org/secret "words of the definition"\n\nuses [ref] and [other][ref]',
    "image": "![alternative words](https://example.org/picture.png 'caption') end",
    "nested list": "- one\n  - two\n    - three\n      1. four\n      2. five\n- six\n\n  a paragraph in it",
    "table": "| left | right |\n|:-----|------:|\n| cell1 | cell2 |\n| cell3 | `cell4` |\n\nafterwards",
    "wide table": "| "
    + " | ".join(f"column{n}" for n in range(20))
    + " |\n"
    + "|---" * 20
    + "|\n| "
    + " | ".join(f"value{n}" for n in range(20))
    + " |",
    "ragged table": "| a | b |\n|---|---|\n| c1 | d1 | lost1 |\n| e1 |",
    "code": "```python\ndef name(argument):\n    return argument  # comment\n```\nafter `inline` code",
    "code with words after the fence": "```python title=important secret\nx = 1\n```",
    "unclosed code": "text\n```nolang\nleft open\nmore",
    "indented code": "text\n\n    indented words\n    more",
    "quote": "> quoted words\n> > deeper words\n\nplain",
    "headings": "# First\n## Second ##\nSetext\n======\nOther\n-----\n###### Sixth",
    "emphasis": "**bold** *it* ***both*** ~~gone~~ __under__ snake_case_name 2*3*4",
    "entities": "a &amp; b &lt;tag&gt; &copy; &#65; &nbsp;x",
    "escapes": r"\*not em\* \[no link\] \\ end",
    "emoji": ":smile: 👩‍🚀 日本語テキスト :warning:",
    "rich markup": "[bold red]not obeyed[/bold red] [link=https://x.example]y[/link]",
    "task list": "- [ ] open item\n- [x] done item",
    "front matter": "---\ntitle: The Title\ntags: [a1, b2]\n---\nbody words",
    "line breaks": "first line\nsecond line\\\nthird line  \nfourth line",
    "numbers": "7. seven\n8. eight\n\n1986\\. A year",
    "mail": "> On Monday, ann wrote:\n> this\n\nmy answer\n-- \nsignature",
    "ansi": "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07click\x1b]8;;\x07",
    "footnote": "text[^1]\n\n[^1]: the footnote words",
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("width", [24, 40, 80])
def test_every_word_of_the_source_is_drawn(name: str, width: int) -> None:
    source = SOURCES[name]
    drawn = joined(render_markdown(source, width, INK))
    missing = [word for word in words_of(visible(source)) if word not in drawn]
    if name == "code":
        missing.remove("python")  # it is told by the colours
    assert not missing, f"{missing} of {source!r} in:\n{text_of(render_markdown(source, width, INK))}"


PIECES = st.sampled_from(
    [
        "word",
        "  ",
        "\n",
        "\n\n",
        "# ",
        "- ",
        "1. ",
        "> ",
        "```",
        "`",
        "*",
        "**",
        "_",
        "~~",
        "|",
        "|---|",
        "[",
        "](",
        ")",
        "![",
        "<",
        ">",
        "<!--",
        "-->",
        "]: ",
        "&amp;",
        "\\",
        "    ",
        "\t",
        "---",
        "===",
        "😀",
        "日本",
        "x1",
        "y2",
        "\x1b[1m",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join), st.integers(8, 60))
def test_no_word_is_lost_and_no_line_is_too_wide_whatever_is_written(source: str, width: int) -> None:
    strips = strips_of(markdown.render_markdown(source, width, INK, is_wrapped=True))
    drawn = joined(strips)
    lost = {word for word in words_of(visible(source)) if word not in drawn}
    assert not lost, text_of(strips)
    for strip in strips:
        assert sum(cell_len(segment.text) for segment in strip) <= width, strip.text


@given(st.text(max_size=200), st.integers(1, 60))
def test_any_text_at_any_width_is_drawn_within_it(source: str, width: int) -> None:
    drawn = markdown.render_markdown(source, width, INK, is_wrapped=True)
    for render in (strips_of(drawn), render_plain(source, width, INK.text)):
        for strip in render:
            assert sum(cell_len(segment.text) for segment in strip) <= max(8, width), strip.text
            assert not any(segment.control for segment in strip)


@given(st.text(max_size=200))
def test_a_plain_text_keeps_every_sign(source: str) -> None:
    drawn = "".join(strip.text for strip in render_plain(source, 30, INK.text))
    assert re.sub(r"\s", "", drawn) == re.sub(r"\s", "", visible(source))


@pytest.mark.parametrize("name", SOURCES)
def test_only_links_that_say_where_they_lead_are_links_of_the_terminal(name: str) -> None:
    links = set()
    for strip in render_markdown(SOURCES[name], 60, INK):
        for segment in strip:
            assert not segment.control
            assert "\x1b" not in segment.text
            if segment.style is not None and segment.style.link is not None:
                links.add(segment.style.link)
    assert all(link.startswith("https://") and link in SOURCES[name] for link in links)


@pytest.mark.parametrize(
    "source",
    [
        "word " * 200_000,
        "x" * 1_000_000,
        "日本" * 300_000,
        "line\n" * 200_000,
        "é\n" * 100_000,
    ],
    ids=["words", "one line", "wide", "lines", "short lines that are not ascii"],
)
def test_a_megabyte_is_drawn_in_time_as_it_stands(source: str) -> None:
    start = process_time()
    strips = render_markdown(source, 60, INK)
    assert process_time() - start < 10
    assert sum(len(strip.text.replace(" ", "")) for strip in strips) == len(re.sub(r"\s", "", source))


@pytest.mark.parametrize(
    "source",
    [
        "> " * 3000 + "end",
        "- " * 1500 + "end",
        "[" * 3000 + "end",
        "*" * 3000 + "end",
        "**a " * 3000 + "end",
        "`" * 1999 + " end " + "`" * 1998,
        "| a " * 900 + "|\n" + "|---" * 900 + "|\n" + "| b " * 900 + "|\nend",
        "\n".join("> " * n + "end" for n in range(1, 200)),
        "\n".join(" " * 2 * n + "- item" for n in range(200)) + "end",
        "<" * 3000 + "end",
        "```\n" * 3000 + "end",
        "# " * 3000 + "end",
        "\\" * 3000 + "end",
    ],
    ids=lambda source: repr(source[:6]),
)
def test_a_bomb_of_nesting_is_drawn_in_time(source: str) -> None:
    start = process_time()
    strips = render_markdown(source, 60, INK)
    assert process_time() - start < 5
    assert "end" in joined(strips)


@pytest.mark.parametrize("source", ["\n\none\n\n\n", "# one", "- one", "```\none\n```", "> one", "|one|\n|---|\n|two|"])
def test_blank_lines_at_the_ends_are_not_drawn(source: str) -> None:
    lines = text_of(render_markdown(source, 40, INK)).split("\n")
    assert "one" in lines[0]
    assert lines[-1]


@pytest.mark.parametrize("source", ["1.", "-", "#", "---", "```", ">", "* * *"])
def test_an_answer_of_marks_alone_is_drawn(source: str) -> None:
    assert text_of(render_markdown(source, 40, INK)).strip()


@pytest.mark.parametrize("numbers", [(1, 2, 3), (1, 1, 1), (3, 1, 2), (9, 10, 11)])
def test_items_bear_the_numbers_that_they_were_written_with(numbers: tuple[int, ...]) -> None:
    source = "\n".join(f"{number}. item" for number in numbers)
    assert words_of(text_of(render_markdown(source, 40, INK))) == words_of(source)


def test_a_line_that_was_ended_is_ended() -> None:
    source = "first line\nsecond line\n\n> quoted one\n> quoted two\n\n- item one\n  goes on"
    drawn = [line.strip(" ▌•") for line in text_of(render_markdown(source, 40, INK)).split("\n")]
    assert [line for line in drawn if line] == [line.strip(" >-") for line in source.split("\n") if line]


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("theme", ["default", "monokai", "ansi_dark"])
def test_everything_stands_on_the_page_itself(name: str, theme: str) -> None:
    for strip in render_markdown(SOURCES[name], 40, replace(INK, code_theme=theme)):
        assert not any(segment.style and segment.style.bgcolor for segment in strip)


def test_code_is_coloured_and_a_table_takes_no_blank_lines() -> None:
    code = render_markdown("```python\ndef name():\n    return 1  # why\n```", 40, INK)
    assert (
        len({segment.style and segment.style.color for strip in code for segment in strip if segment.text.strip()}) > 2
    )
    assert all(strip.text.strip() for strip in render_markdown("|a|b|\n|---|---|\n|c|d|\n|e|f|", 40, INK))


def test_nothing_is_no_line() -> None:
    assert text_of(render_markdown("", 40, INK)) == ""


LONG = {
    "paragraphs": "\n\n".join(f"Paragraph{n} of **many** words, `code{n}` too. " + "word " * 20 for n in range(90)),
    "numbered": "before\n\n" + "\n".join(f"{n}. item{n} with some words to read" for n in range(1, 200)) + "\n\nafter",
    "loose": "\n\n".join(f"- item{n}\n\n  its second paragraph{n}" for n in range(120)),
    "quoted": "\n".join(f"> quoted line{n}\n>" for n in range(200)) + "\n\nafter",
    "code": "```python\n" + "\n".join(f"name{n} = 'value{n}'  # comment{n}" for n in range(300)) + "\n```",
    "rules": "\n\n".join(f"part{n} " + "word " * 80 + "\n\n---" for n in range(30)),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_text_comes_in_portions_and_is_the_same_as_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    portions = list(markdown.render_markdown(LONG[name], 48, INK))
    assert len(portions) > 2
    assert max(len(portion) for portion in portions) < 150
    monkeypatch.setattr(markdown, "PIECE", 10**9)
    assert text_of(strips_of(portions)) == text_of(render_markdown(LONG[name], 48, INK))
