"""The mapping file: the files or rows of a mailbox, and where each field of a message comes from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from mailstore.errors import StoreError
from mailstore.files.whole import NotAFile, read_whole

LARGEST = 1 << 20
A_FIELD = "a dotted path in quotes, or a table with one of path, group and constant"


class Table(BaseModel):
    """A table of the mapping; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"expected a regular expression ({error})") from error
    return text


def _query(text: str) -> str:
    if not re.match(r"\s*(select|with)\b", text, re.IGNORECASE):
        raise ValueError("expected a query that begins with SELECT or WITH")
    return text


class Finder(Table):
    """Where a value comes from: a dotted path or column, a named group of the file's path, or a constant.

    `default` replaces a missing value, `prefix` is put before a found one; `separator` splits one text into several;
    `format` is the format of a time; `values` are those that mean yes.
    """

    path: str | None = None
    group: str | None = None
    constant: str | int | float | list[str] | None = None
    default: str | None = None
    prefix: str = ""
    separator: Annotated[str, Field(min_length=1)] | None = None
    format: str = "auto"
    values: list[str | int | bool] = []

    @model_validator(mode="after")
    def _has_one_origin(self) -> Self:
        if sum(it is not None for it in (self.path, self.group, self.constant)) != 1:
            raise ValueError(f"expected {A_FIELD}")
        if "%" not in self.format and self.format not in ("auto", "iso", "epoch", "epoch-ms"):
            raise ValueError("its format: expected iso, epoch, epoch-ms or a pattern such as %d.%m.%Y %H:%M")
        return self


def _finder(value: Any) -> Any:
    if isinstance(value, str):
        return {"path": value}
    if not isinstance(value, (dict, Finder)):
        raise ValueError(f"expected {A_FIELD}")
    return value


Found = Annotated[Finder, BeforeValidator(_finder)]


class SourceMap(Table):
    """The files or rows: one of `jsonl`, `json` and `database`; relative paths start at the mapping's folder."""

    jsonl: Annotated[str, Field(min_length=1)] | None = None
    json_files: Annotated[str | None, Field(min_length=1, alias="json")] = None
    database: Annotated[str, Field(min_length=1)] | None = None
    table: Annotated[str, Field(min_length=1)] | None = None
    query: Annotated[str, AfterValidator(_query)] | None = None
    records: str | None = None
    path: Annotated[str, AfterValidator(_pattern)] | None = None
    only: Found | None = None

    @model_validator(mode="after")
    def _is_one_source(self) -> Self:
        if sum(it is not None for it in (self.jsonl, self.json_files, self.database)) != 1:
            raise ValueError("expected one of jsonl, json and database")
        if (self.database is not None) != ((self.table is None) != (self.query is None)):
            raise ValueError("expected one of table and query with database, and neither without")
        if self.records is not None and self.json_files is None:
            raise ValueError("records: expected with json only")
        if self.path is not None and self.database is not None:
            raise ValueError("path: expected with jsonl or json only")
        return self

    def groups(self) -> set[str]:
        """Return the named groups in `path`."""
        return set(re.compile(self.path).groupindex) if self.path else set()


class MessageMap(Table):
    """The fields of a message; without an `id` one is derived.

    `thread` is a label shared by the messages of a thread, `reply_to` the id of the parent.
    """

    sender: Found
    recipients: Found
    body: Found
    id: Found | None = None
    time: Found | None = None
    subject: Found | None = None
    thread: Found | None = None
    reply_to: Found | None = None
    type: Found | None = None
    tags: Found | None = None
    read: Found | None = None
    expires: Found | None = None
    ttl_hours: Found | None = None


class AgentMap(Table):
    """A second source, and the fields of an agent."""

    source: SourceMap
    id: Found
    name: Found | None = None
    role: Found | None = None
    tags: Found | None = None
    status: Found | None = None
    activity: Found | None = None
    started: Found | None = None
    ended: Found | None = None
    seen: Found | None = None


class Names(Table):
    """The system's names for the user, and for everybody."""

    user: list[str] = []
    all: list[str] = []


class Mapping(Table):
    """A complete mapping file."""

    source: SourceMap
    message: MessageMap
    agents: AgentMap | None = None
    names: Names = Names()

    @model_validator(mode="after")
    def _knows_its_groups(self) -> Self:
        for name, table, source in (
            ("message", self.message, self.source),
            *((("agents", self.agents, self.agents.source),) if self.agents else ()),
        ):
            finders = {key: value for key, value in table if isinstance(value, Finder)}
            for key, finder in finders.items():
                if finder.group is not None and finder.group not in source.groups():
                    known = ", ".join(sorted(source.groups())) or "none"
                    raise ValueError(f"{name}.{key}: expected a group that source.path names (there is {known})")
        return self


def load(path: Path) -> Mapping:
    """Read a mapping file. Raises OSError, and StoreError with the invalid key and what is expected."""
    try:
        return parse(read_whole(path, LARGEST).decode(), str(path))
    except NotAFile as error:
        raise StoreError(f"{path} is not a mapping ({error})", "use a TOML file", "E516") from error
    except UnicodeDecodeError as error:
        raise StoreError(f"{path} is not UTF-8", "use a TOML file in UTF-8", "E517") from error


def parse(text: str, name: str) -> Mapping:
    """Parse a mapping. Raises StoreError."""
    try:
        return Mapping.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise StoreError(
            f"{name} is invalid TOML ({error})", "correct it, or use signalbox map guess", "E518"
        ) from error
    except RecursionError as error:
        raise StoreError(f"{name} is nested too deeply", "a mapping is a table of tables", "E519") from error
    except ValidationError as error:
        said = "; ".join(dict.fromkeys(map(_said, error.errors())))
        raise StoreError(
            f"{name} is not a mapping ({said})", "signalbox map guess prints an example", "E520"
        ) from error


def _said(error: Any) -> str:
    """Describe what is wrong with one key."""
    loc = [str(part) for part in error["loc"] if not isinstance(part, int)]
    key = ".".join(loc)
    kind, message = error["type"], str(error["msg"])
    if kind == "missing":
        what = "a table" if len(loc) == 1 else A_FIELD if loc[-1] != "source" else "a table"
        return f"{key} is missing (expected {what})"
    if kind == "extra_forbidden":
        return f"unknown key {key}{_near(loc)}"
    if kind == "value_error":
        message = message.removeprefix("Value error, ")
        return f"{key}: {message}" if key else message
    return f"{key}: {message[:1].lower()}{message[1:]}"


TABLES: dict[str, type[BaseModel]] = {
    "": Mapping,
    "source": SourceMap,
    "message": MessageMap,
    "agents": AgentMap,
    "names": Names,
    "agents.source": SourceMap,
}


def _near(loc: list[str]) -> str:
    """Return a suggestion for an unknown key, or the known ones."""
    from difflib import get_close_matches

    model = TABLES.get(".".join(loc[:-1]), Finder)
    known = [field.alias or name for name, field in model.model_fields.items()]
    near = get_close_matches(loc[-1], known, n=1)
    return f" (did you mean {near[0]}?)" if near else f" (expected {', '.join(known)})"
