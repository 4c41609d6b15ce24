"""The addresses in a header."""

from __future__ import annotations

from email.utils import getaddresses


def bare(text: str) -> str:
    """Return the address within `Name <address>`, or the text itself."""
    text = text.strip()
    if text.endswith(">") and "<" in text:
        return text[text.rindex("<") + 1 : -1].strip() or text
    return text


def addresses(*fields: str) -> tuple[str, ...]:
    """Return the addresses in headers, in order, without duplicates."""
    found = (address for field in fields for address in _parsed(field))
    return tuple(dict.fromkeys(address for address in found if address))


def _parsed(field: str) -> list[str]:
    if "<" in field:
        # e-mail addresses may include display names with commas
        found = [address for _, address in getaddresses([field]) if address]
        if found:
            return found
    return [bare(part) for part in field.split(",")]
