"""Print candidates as each shell reads them, so that nothing in them is anything but text. Imports next to nothing."""

from __future__ import annotations

import os

from console.completion.candidates import Completions, candidates

SHELLS = ("bash", "zsh", "fish")
UNQUOTED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,/:=@%+")
IN_DOUBLE_QUOTES = frozenset('"$`\\!')
PATHS, NO_PATHS = "paths ", "words"
OPEN_ENDS = (":", "=", "/")
MOST_PATHS = 1000


def script_of(shell: str) -> str:
    """Return the script that a shell sources."""
    with open(f"{os.path.dirname(os.path.abspath(__file__))}/signalbox.{shell}", encoding="utf-8") as file:  # noqa: PTH100, PTH120
        return file.read()


def word_lines(words: list[str]) -> list[str]:
    """Return lines for zsh and fish, which quote by themselves.

    The first says whether a path may stand here, and after which beginning of the word; then come words, each followed
    by the line that describes it.
    """
    completions = candidates(words)
    head = f"{PATHS}{completions.before}" if completions.has_paths and _is_plain(completions.before) else NO_PATHS
    return [head, *(line for word in completions.words if all(map(_is_plain, word)) for line in word)]


def bash_lines(line: str, breaks: str) -> list[str]:
    """Return for bash the ends of words, quoted; the first line says whether a space may follow the only one."""
    typed = typed_line(line, breaks)
    if len(typed.words) < 2:
        return [NO_PATHS]
    completions = candidates(typed.words[1:])
    words = [word for word, _ in completions.words if _is_plain(word)]
    if completions.has_paths:
        words += _paths(typed.words[-1], completions)
    if typed.quote:
        bad = IN_DOUBLE_QUOTES if typed.quote == '"' else frozenset("'")
        ends = [word for word in words if not bad.intersection(word)]
    else:
        ends = [_quoted(word[typed.breaks_at :], is_path=completions.has_paths, typed=typed) for word in words]
    is_open = all(word.endswith(OPEN_ENDS) for word in words)
    return ["nospace" if is_open else NO_PATHS, *dict.fromkeys(ends)]


def _is_plain(text: str) -> bool:
    return text.isprintable() or not text


def _quoted(text: str, *, is_path: bool, typed: TypedLine) -> str:
    """Return a text with a backslash before whatever means something to bash; a `~` that was typed stays one."""
    head = ""
    if is_path and text.startswith("~") and typed.words[-1].startswith("~"):
        head, text = "~", text[1:]
    return head + "".join(char if char in UNQUOTED or not char.isascii() else f"\\{char}" for char in text)


def _paths(typed: str, completions: Completions) -> list[str]:
    """Return the files and folders that continue what was typed."""
    word = typed.removeprefix(completions.before)
    folder, slash, start = word.rpartition("/")
    try:
        entries = sorted(os.listdir(os.path.expanduser(folder + slash) or "."))[:MOST_PATHS]  # noqa: PTH111, PTH208
    except (OSError, ValueError):
        return []
    names = [name for name in entries if name.startswith(start) and (start or not name.startswith("."))]
    paths = []
    for name in names:
        path = f"{folder}{slash}{name}"
        is_folder = os.path.isdir(os.path.expanduser(path))  # noqa: PTH111, PTH112
        paths.append(f"{completions.before}{path}{'/' * is_folder}")
    return [path for path in paths if _is_plain(path)]


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
