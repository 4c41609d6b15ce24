"""The page of settings: every key of config.toml with its type, default and meaning, and an example of each table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from console.settings.config_schema import config_schema
from console.settings.toml_errors import in_toml
from manual.reference.markdown import code, page, prose, table

INTRO = """\
Every key of `config.toml`, which `signalbox config edit` opens with all of this as comments. [Settings and
themes](../settings.md) begins with the usual ones. A wrong value is reported with file and line, and the default is
used instead; an unknown key is reported too."""
SCHEMA = """\
## In your editor

`signalbox config schema` prints a JSON Schema of the file ([the same here](schemas/config.toml.json)). Editors that
know schemas of TOML, such as those with Taplo (Even Better TOML), then complete keys and mark what is wrong:

```
signalbox config schema > ~/.config/signalbox/config.schema.json
```

```toml
#:schema ./config.schema.json
```

The second is the first line of `config.toml`."""
EXAMPLES: dict[str, Any] = {
    "store": "haak:/srv/agents/data",
    "theme": "timetable",
    "editor": "nvim",
    "user": "sam",
    "retention.days": 7,
    "retention.messages": 5000,
    "wake.command": ["my-waker", "--quietly"],
    "policy.to_user": ["orchestrator"],
    "notifications.channel": ["toast"],
    "notifications.command": "tell-me",
    "notifications.quiet_from": "22:00",
    "notifications.quiet_to": "07:00",
    "hooks.tags": ["domain:press"],
    "send.undo_seconds": 10,
    "agent_mail.url": "http://127.0.0.1:8765/mcp/",
    "agent_mail.secret_file": "~/.config/signalbox/secrets/agent-mail",
    "agent_mail.secret_command": ["pass", "show", "agent-mail"],
    "agent_mail.ca_file": "~/ca.pem",
    "opencode.url": "http://127.0.0.1:4096",
    "opencode.password_file": "~/.config/signalbox/secrets/opencode",
    "nats.creds": "~/.config/signalbox/secrets/ann.creds",
    "nats.nkey": "~/.config/signalbox/secrets/ann.nk",
    "nats.user": "ann",
    "nats.password_file": "~/.config/signalbox/secrets/ann",
    "nats.ca": "~/ca.pem",
    "nats.cert": "~/ann.pem",
    "nats.key": "~/ann.key",
    "transports.mailbox": "~/agents/data/mailboxes",
    "transports.agents": ["ann.agenttalk"],
    "transports.filter.blacklist": ["*@spam.example"],
    "transports.filter.whitelist": ["*@example.org"],
    "agent": "ann.agenttalk",
    "server": "mail.example.org",
    "transports.relay.server": "https://relay.example.org:8443",
    "secret_file": "secrets/ann",
    "secret_env": "ANN_PASSWORD",
    "secret_command": ["pass", "show", "ann"],
    "ca_file": "~/ca.pem",
    "address": "ann@example.org",
    "addresses": {"bob.agenttalk": "bob@example.org"},
    "username": "ann",
    "transports.smtp.port": 587,
    "transports.imap.port": 993,
    "transports.pop3.port": 995,
    "transports.ftp.port": 2121,
    "views": {"open questions": "type:question is:unread"},
    "keymap": {"read.next": "n,ctrl+n", "search": "slash,f3"},
}
"""What is shown for keys that are empty or not set by default, by their places or by their names."""


def settings_page() -> str:
    """Return the page."""
    schema = config_schema()
    return page("# Settings", INTRO, SCHEMA, "## Settings", *_section("", schema), *_tables("", schema))


def examples() -> list[str]:
    """Return the examples of the page, which are TOML."""
    return settings_page().split("```toml\n")[2:]


def _tables(place: str, schema: dict[str, Any]) -> Iterator[str]:
    for key, value in schema["properties"].items():
        inner = f"{place}.{key}" if place else key
        found = _inner(value)
        if found is None:
            continue
        brackets = "[[{}]]" if "items" in value else "[{}]"
        yield f"## {brackets.format(inner)}"
        yield prose(value["description"])
        if inner in ("views", "keymap"):
            yield _own(inner, found)
        else:
            yield from _section(inner, found, brackets.format(inner))
            yield from _tables(inner, found)


def _inner(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the table that a key stands for, or of which it has a list; None for a simple value."""
    found: dict[str, Any] = value.get("items", value)
    return found if "properties" in found or (found is value and _is_views(value)) else None


def _is_views(value: dict[str, Any]) -> bool:
    return value.get("type") == "object" and value.get("description", "").startswith("Saved views")


def _own(name: str, schema: dict[str, Any]) -> str:
    """Return the description of a table whose keys are the person's own."""
    said = "The keys are the ids of commands ([all of them](keys.md)), the values keys with commas between them."
    if name == "views":
        said = "The keys are names of yours, the values [queries](query-language.md)."
    lines = [f"{in_toml(key)} = {in_toml(value)}" for key, value in EXAMPLES[name].items()]
    return "\n\n".join([said, _example(f"[{name}]", lines)])


def _section(place: str, schema: dict[str, Any], head: str = "") -> Iterator[str]:
    simple = {key: value for key, value in schema["properties"].items() if _inner(value) is None}
    needed = schema.get("required", ())
    rows = (
        (code(key), _type(value), "must be set" if key in needed else _default(value), prose(value["description"]))
        for key, value in simple.items()
    )
    if simple:
        yield table(("key", "type", "default", ""), rows)
        yield _example(head, [f"{key} = {_in_toml(_shown(place, key, value))}" for key, value in simple.items()])


def _example(head: str, lines: list[str]) -> str:
    return "\n".join(["```toml", *([head] if head else []), *lines, "```"])


def _shown(place: str, key: str, value: dict[str, Any]) -> Any:
    for name in (f"{place}.{key}" if place else key, key):
        if name in EXAMPLES:
            return EXAMPLES[name]
    if value.get("default") in (None, "", [], {}):
        raise KeyError(f"no example of {place}.{key}")
    return value["default"]


def _in_toml(value: Any) -> str:
    if not isinstance(value, dict):
        return in_toml(value)
    return "{ " + ", ".join(f"{in_toml(key)} = {in_toml(each)}" for key, each in value.items()) + " }"


def _default(value: dict[str, Any]) -> str:
    default = value.get("default")
    if default is None:
        return "not set"
    return "empty" if default in ("", [], {}) else code(in_toml(default))


def _type(value: dict[str, Any]) -> str:
    kind = value.get("type", "")
    if kind == "array":
        return f"list of {_type(value['items'])}"
    if "enum" in value:
        return " or ".join(code(in_toml(each)) for each in value["enum"])
    if kind == "object":
        return "table of texts"
    if "pattern" in value:
        return "time of day"
    words = {"string": "text", "boolean": "true or false", "integer": "whole number", "number": "number"}[kind]
    limits = {"exclusiveMinimum": "above", "minimum": "from", "maximum": "to"}
    said = [f"{word} {value[limit]:g}" for limit, word in limits.items() if limit in value]
    return f"{words} {' '.join(said)}" if said else words
