"""The phrases that no text of the program uses, and a search for them: `python -m tests.project.wording [PATH …]`."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

IN_MESSAGES = re.compile(
    r"\b(?:is|are|be|was|were) no (?!longer|more|less)|\bthere (?:is|are) no\b"
    r"|\bnobody\b|\bno one has\b|\bsomebody\b|\banew\b|\blies?\b|\bbears?\b|\bborne\b|\bwhoever\b|\bhalf a character\b"
    r"|\bput away\b|\btaken? back\b|\btold\b|\bknows? (?:no|nothing|of)\b|\bdoes not know\b|\bis called\b"
    r"|\bmend\b|\bletter\.$|\bwas perhaps\b|\bwill you\b|\bnothing lies\b|\bin vain\b"
)
"""What no error message and no help text says."""

ANYWHERE = re.compile(
    r"\btold anew\b|\bnobody is called\b|\bhas ever borne\b|\bhalf a character\b|\bslip of the pen\b|\bnothing lies\b"
    r"|\bin silence\b|\bfor who\b|\blets? go of\b|\bread anew\b|\bhanded out anew\b|\bseed \d{3}\b|\bsemantics: "
    r"|\bgone on with\b|\blooked at only\b|\bof a shape of its own\b|\bis less than nothing\b|\bdone with to\b"
)
"""What neither code nor pages say, comments and docstrings included."""


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a page or module with their lines: literals, docstrings and comments."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield from enumerate(source.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, " ".join(node.value.split())
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def found(paths: list[Path], phrases: re.Pattern[str] = ANYWHERE) -> list[str]:
    """Return where files use the phrases, one line each."""
    files = [
        file
        for path in paths
        for file in (sorted((*path.rglob("*.py"), *path.rglob("*.md"))) if path.is_dir() else [path])
    ]
    return [
        f"{file}:{line}: {' '.join(text[max(0, hit.start() - 40) : hit.end() + 40].split())}"
        for file in files
        if phrases.search(" ".join(file.read_text(encoding="utf-8").replace("#", " ").split()))
        for line, text in texts(file)
        for hit in phrases.finditer(text)
    ]


if __name__ == "__main__":
    places = [Path(word) for word in sys.argv[1:]] or [ROOT / "console", ROOT / "mailstore", ROOT / "docs"]
    print(*found(places, re.compile(f"{ANYWHERE.pattern}|{IN_MESSAGES.pattern}")), sep="\n")
