"""The parameters of the tools, under the names that agents use."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from console.cli.portion import MOST_CHARACTERS

__all__ = ["MarkRead", "Nothing", "ReadMessages", "Request", "SendMessage", "ThreadOf"]


class Request(BaseModel):
    """The arguments of a tool: named in camel case, and no others."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


class ReadMessages(Request):
    """Which messages are read; nothing is recorded as read by it."""

    to: Annotated[str | None, Field(description="only mail to this address; without it, yours")] = None
    since: Annotated[str | None, Field(description="only from this time on: ISO 8601, or 2h, 3d")] = None
    unread_only: Annotated[bool, Field(description="only what you have not read")] = True
    limit: Annotated[
        int,
        Field(ge=1, le=1000, description="at most so many, of unread mail the oldest, else the newest"),
    ] = 50
    max_chars: Annotated[
        int, Field(ge=0, description="whole messages of at most so many characters together; 0 for all of them")
    ] = MOST_CHARACTERS


class SendMessage(Request):
    """A message to send."""

    type: Annotated[str, Field(description="such as question, answer, status, task-assigned, task-done")]
    to: Annotated[str, Field(description="a session id, a role, a tag such as project:x, all, or user")]
    body: str
    subject: str = ""
    metadata: dict[str, str] = {}
    issue_id: Annotated[str | None, Field(description="kept in the metadata")] = None
    in_reply_to: Annotated[str | None, Field(description="the id of the message that it answers")] = None


class MarkRead(Request):
    """What was read: just these ids, or all that is unread and was handed out whole."""

    message_ids: list[str] = []
    all: bool = False


class ThreadOf(Request):
    """The message whose thread is asked for."""

    message_id: str


class Nothing(Request):
    """No arguments."""
