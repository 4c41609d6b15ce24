"""What the package index shows of the README: there, no file lies beside it.

The build calls this. Pictures and links into the project are left out, the words stay; addresses on the web are kept.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

FENCED = re.compile(r"(^(?:```|~~~).*?^(?:```|~~~)[^\n]*$)", re.MULTILINE | re.DOTALL)
OUTSIDE = r"(?!https?://|mailto:|#)"
PICTURE = re.compile(rf"!\[[^\]]*\]\({OUTSIDE}[^)]*\)")
LINK = re.compile(rf"\[([^\]]*)\]\({OUTSIDE}[^)]*\)")
PICTURE_TAG = re.compile(rf"<(?:img|source)\b[^>]*\b(?:src|srcset)=[\"']?{OUTSIDE}[^>]*>", re.IGNORECASE)
LINK_TAG = re.compile(rf"<a\b[^>]*\bhref=[\"']?{OUTSIDE}[^>]*>(.*?)</a>", re.IGNORECASE | re.DOTALL)
TAG = re.compile(r"<[^>]*>")


class CustomMetadataHook(MetadataHookInterface):
    """Gives the distribution its long description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": _by_itself(text)}


def _by_itself(text: str) -> str:
    """Return a page without what only its folder has; code blocks are kept as they are."""
    parts = FENCED.split(text)
    parts[::2] = ["\n\n".join(filter(None, map(_block, re.split(r"\n{2,}", part)))) for part in parts[::2]]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def _block(block: str) -> str:
    """Return a paragraph, empty if it only showed pictures; a table of pictures goes whole."""
    shown = PICTURE_TAG.sub("", PICTURE.sub("", block))
    if shown != block:
        words = TAG.sub("", LINK.sub("", shown))
        if block.lstrip().startswith("|") or not words.strip():
            return ""
    return LINK_TAG.sub(r"\1", LINK.sub(r"\1", shown))
