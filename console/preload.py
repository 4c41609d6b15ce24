"""Import in idle moments what functions import when they run, so that the first key that needs it does not wait."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from console.running.idle import load_modules

MODULES = (
    "console.feed",
    "console.screens.parts",
    "console.panes.reader",
    "console.render.markdown",
    "console.panes.composer",
    "console.panes.search_bar",
    "console.state.personal_state",
    "mailstore.writing.replying",
    "mailstore.queries.query",
    "mailstore.queries.search",
    "console.search.hits",
    "mailstore.queries.grouping",
    "console.panes.hit_rows",
    "mailstore.queries.spelling",
    "console.panes.help",
    "console.screens.help_screen",
    "console.screens.viewer",
    "console.screens.ask",
    "console.screens.prompt",
    "console.screens.list_screen",
    "console.screens.palette",
    "console.panes.pages",
    "console.panes.message_lines",
    "console.opening",
    "console.screens.message_dialogs",
    "mailstore.queries.attention",
    "console.screens.desks.desk",
    "console.screens.views",
    "mailstore.queries.absence",
    "console.panes.away_card",
    "console.screens.away_list",
    "console.screens.writing.draft_keeping",
    "console.sending.held_messages",
    "console.screens.writing.drafts",
    "console.screens.journal",
    "console.screens.archive",
    "console.screens.unreadable",
    "console.quiet.times",
    "console.quiet.offers",
    "console.screens.menu",
    "console.notifications.notifier",
    "console.state.saved_views",
    "console.commands.keymap",
    "mailstore.writing.sending",
    "mailstore.writing.settling",
    "mailstore.queries.time_parse",
    "mailstore.state.past",
    "console.panes.slider",
    "mailstore.rules.presence",
    "console.state.unread_mail",
    "console.hooks.waking.wake_command",
    "console.export.document",
    "mailstore.transfer.export",
)
"""Modules that the first frame does without, those needed soonest first."""


async def preload(idle: Callable[[], Awaitable[None]]) -> None:
    """Import all of `MODULES`, each after waiting for an idle moment."""
    for module in MODULES:
        await idle()
        await load_modules(module)
