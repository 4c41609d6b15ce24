"""Split a line that is being typed into words, as a shell would, up to the cursor. Imports nothing."""

from __future__ import annotations


class TypedLine:
    """The words before the cursor without their quotes; the last one is being typed and may be empty.

    `quote` is the quote that it stands in; `breaks_at` is where in it the shell's own word begins: bash breaks at
    characters such as `:`.
    """

    __slots__ = ("breaks_at", "quote", "words")

    def __init__(self, words: list[str], quote: str, breaks_at: int) -> None:
        self.words = words
        self.quote = quote
        self.breaks_at = breaks_at


def typed_line(text: str, breaks: str) -> TypedLine:
    """Return the words of a line; `breaks` are the characters at which the shell's own words break."""
    words = [""]
    quote, breaks_at, is_word = "", 0, False
    at = 0
    while at < len(text):
        char = text[at]
        if quote:
            if char == quote:
                quote = ""
            elif char == "\\" and quote == '"' and text[at + 1 : at + 2] in ("\\", '"', "$", "`"):
                at += 1
                words[-1] += text[at]
            else:
                words[-1] += char
        elif char in "'\"":
            quote, is_word = char, True
        elif char == "\\":
            at += 1
            words[-1] += text[at : at + 1]
            is_word = True
        elif char in " \t\n":
            if is_word or words[-1]:
                words.append("")
                breaks_at, is_word = 0, False
        else:
            words[-1] += char
            if char in breaks:
                breaks_at = len(words[-1])
        at += 1
    return TypedLine(words, quote, breaks_at)
