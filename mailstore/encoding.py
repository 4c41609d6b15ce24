"""Text that UTF-8 can't hold: unpaired surrogates, which JSON can escape, and file names that are other bytes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")


def is_encodable(text: str) -> bool:
    """Say whether UTF-8 can hold a text."""
    return text.isascii() or text == text.encode("utf-8", "ignore").decode()


def encodable(text: str) -> str:
    """Return a text with its unpaired surrogates replaced."""
    return text if text.isprintable() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def encodable_value(value: Any) -> Any:
    """Return a JSON value with the unpaired surrogates of all its texts replaced."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, (list, tuple)):
        return [encodable_value(each) for each in value]
    if isinstance(value, dict):
        return {encodable_value(key): encodable_value(each) for key, each in value.items()}
    return value


def shown_name(name: str) -> str:
    """Return a file's name as text, with replacement characters for bytes that are not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def as_json(value: object) -> str:
    """Return a value as JSON in which any text is kept."""
    import msgspec

    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        import json

        return json.dumps(msgspec.to_builtins(value))


def from_json(text: str, kind: type[T]) -> T:
    """Return the value of which `as_json` made a text. Raises ValueError if it isn't one of this type."""
    import msgspec

    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError:
        import json

        try:
            return msgspec.convert(json.loads(text), kind)
        except RecursionError as error:
            raise ValueError("nested too deep") from error
