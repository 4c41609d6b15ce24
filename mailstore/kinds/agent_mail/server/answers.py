"""What a tool of the server answers: the record that it returns, or why it refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from mailstore.kit.secure import said

if TYPE_CHECKING:
    from mcp_types import CallToolResult

PREAMBLE = re.compile(r"^(Error (calling|executing) tool '?[\w-]*'?: )+")
CONTACT = re.compile(r"CONTACT_|contact approval|not accepting messages", re.IGNORECASE)


class ToolRefused(Exception):
    """The server refused; nothing was written. The text says why, in its own words; it is data."""

    def __init__(self, words: str) -> None:
        super().__init__(PREAMBLE.sub("", words))
        self.is_about_contact = CONTACT.search(words) is not None

    @property
    def quoted(self) -> str:
        """Return the server's words as one short line in quotation marks."""
        return said(str(self))


def answer_of(result: CallToolResult) -> Mapping[str, Any]:
    """Return the record in a tool's answer. Raises ToolRefused, ValueError if it holds none."""
    texts = [text for each in result.content if isinstance(text := getattr(each, "text", None), str)]
    if result.is_error:
        raise ToolRefused("\n".join(texts) or "it gives no reason")
    found = result.structured_content
    if not isinstance(found, dict):
        found = msgspec.json.decode("".join(texts) or "null")
    if isinstance(found, dict) and set(found) == {"result"}:
        found = found["result"]  # how some servers wrap what a tool returns
    if not isinstance(found, dict):
        raise ValueError("its answer is not a record")
    if isinstance(error := found.get("error"), dict):
        raise ToolRefused(f"{error.get('type', '')}: {error.get('message', '')}")
    return found
