"""A selection as one HTML file that needs nothing else and runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from console.export.about import NOT_COVERED, About, claim_of
from console.export.fleet_svg import STYLE as FLEET_STYLE
from console.export.fleet_svg import fleet_svg
from console.render.json_output import json_text
from console.render.safe import visible, visible_line
from mailstore.transfer.export import Exported

HTML_END = "</body></html>\n"

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #1d2733; }
h1 { font-size: 1.3rem } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #cfd6de }
article { margin: 0 0 1rem; padding-left: .8rem; border-left: 3px solid #d8a24a }
header { color: #5b6a79; font-size: .85rem } header b { color: #1d2733 }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 14px/1.5 ui-monospace, monospace; margin: .3rem 0 }
footer { color: #8593a1; font-size: .75rem; overflow-wrap: anywhere }
@media (prefers-color-scheme: dark) { body { background: #10151c; color: #cfd6de } header b { color: #fff }
  h2 { border-color: #2a3542 } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def as_html(messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render a whole document, a section where another thread begins."""
    title = text(f"Mail of {about.mailbox}")
    style = STYLE + (FLEET_STYLE if about.fleet is not None else "")
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
    yield f'<meta name="generator" content="signalbox"><title>{title}</title><style>{style}</style></head>\n<body>\n'
    yield f"<h1>{title}</h1>\n<p>Exported {text(about.exported_at)}: {text(about.selection)}. {NOT_COVERED}</p>\n"
    if about.fleet is not None:
        yield from fleet_svg(about.fleet)
    root = None
    for message in messages:
        yield html_block(message, root)
        root = message.root
    yield HTML_END


def text(value: str) -> str:
    """Return one line of text that a browser shows as it is."""
    return escape(visible_line(value))


def html_block(message: Exported, root: str | None) -> str:
    """Return a message, below a heading unless it is in the thread with this root."""
    heading = "" if message.root == root else f"<h2>{text(message.subject) or '(no subject)'}</h2>\n"
    shown = visible(message.content).rstrip("\n")
    data = f'data-record="{escape(json_text(claim_of(message)))}"'
    states = text("; ".join(f"{name}: {state}" for name, state in message.states.items()))
    kind = f" · {text(message.type)}" if message.type else ""
    missing = f" · its text can't be read: {text(message.missing)}" if message.missing else ""
    place = f"{message.file} at {message.offset}" if message.file is not None else "no file"
    return (
        f"{heading}<article {data}>\n<header><b>{text(message.sender)}</b> → {text(', '.join(message.recipients))}"
        f" · {text(message.timestamp)}{kind}{missing}<br>{states}</header>\n"
        f"<pre>\n{escape(shown)}</pre>\n"
        f"<footer>{text(message.id)} · {text(place)} · sha256 {text(message.sha256 or '–')}</footer>\n</article>\n"
    )
