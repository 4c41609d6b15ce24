"""The parameters of the tools, under the names that agents use."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from console.handout.portion import MOST_CHARACTERS


class Request(BaseModel):
    """The arguments of a tool, in camel case; others are refused."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


class ReadMessages(Request):
    """Which messages to return; records no reads."""

    to: Annotated[str | None, Field(description="only mail to this address (default: your mail)")] = None
    since: Annotated[str | None, Field(description="only mail since this time: ISO 8601, or an age (2h, 3d)")] = None
    unread_only: Annotated[bool, Field(description="only unread mail")] = True
    limit: Annotated[
        int,
        Field(ge=1, le=1000, description="maximum number of messages: the oldest of unread mail, otherwise the newest"),
    ] = 50
    max_chars: Annotated[
        int, Field(ge=0, description="maximum number of characters of whole messages in total; 0 for no limit")
    ] = MOST_CHARACTERS


class SendMessage(Request):
    """A message to send."""

    to: Annotated[str, Field(description="a session id, a role, a tag such as project:x, all, or user")]
    body: str
    type: Annotated[str, Field(description="such as question, answer, status, task-assigned, task-done")] = ""
    subject: str = ""
    metadata: Annotated[dict[str, JsonValue], Field(description="any JSON, stored with the message")] = {}
    issue_id: Annotated[str | None, Field(description="added to the metadata")] = None
    in_reply_to: Annotated[str | None, Field(description="id of the message you answer")] = None


class MarkRead(Request):
    """What was read: just these ids, or all that is unread and was handed out whole."""

    message_ids: list[str] = []
    all: bool = False


class ThreadOf(Request):
    """The message whose thread is asked for."""

    message_id: str


class Nothing(Request):
    """No arguments."""
