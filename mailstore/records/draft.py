"""A message to send, validated field by field before anything is written."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from mailstore.encoding import is_encodable
from mailstore.errors import DraftRefused

MAX_BODY_BYTES = 1 << 20
NAMES = {"attachments": "attach", "content": "body", "recipients": "to", "ttl_hours": "ttl-hours"}
"""Fields under the names that a sender knows."""


class Draft(BaseModel):
    """A message that is not sent yet.

    `metadata` is any JSON, stored unchanged in the record. `audience` are the recipients reached at this moment
    (session ids, role names, `user`): the store records them beside the message, so that later changes of the roster
    can't change whom it reached. `attachments` are paths of files to send with it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sender: Annotated[str, Field(min_length=1)]
    recipients: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
    content: str
    subject: str = ""
    thread: str | None = None
    ttl_hours: Annotated[int, Field(gt=0)] | None = None
    type: str = ""
    metadata: dict[Annotated[str, Field(min_length=1)], JsonValue] = {}
    audience: tuple[str, ...] = ()
    attachments: tuple[Annotated[str, Field(min_length=1)], ...] = ()


def draft(**fields: Any) -> Draft:
    """Build a draft; raises DraftRefused for the first invalid field."""
    content = fields.get("content", "")
    if not isinstance(content, str) or not content.strip():
        raise DraftRefused("body", "is empty", "write a text", "E341")
    if len(content.encode("utf-8", "surrogatepass")) > MAX_BODY_BYTES:
        raise DraftRefused("body", "is over 1 MiB", "send the path of a file instead", "E178")
    try:
        for field, value in fields.items():
            if not _is_text(value):
                raise DraftRefused(
                    NAMES.get(field, field), "contains an unpaired surrogate", "encode it as UTF-8", "E344"
                )
        return Draft(**fields)
    except RecursionError as error:
        raise DraftRefused("metadata", "is nested too deeply", "send less nested values", "E342") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else "draft"
        raise DraftRefused(
            NAMES.get(field, field), f"is invalid ({first['msg'].lower()})", "correct it", "E343"
        ) from error


def _is_text(value: object) -> bool:
    """Return whether a field, where it is text, can be written as UTF-8."""
    if isinstance(value, dict):
        return all(map(_is_text, (*value, *value.values())))
    if isinstance(value, (list, tuple)):
        return all(map(_is_text, value))
    return not isinstance(value, str) or is_encodable(value)
