"""What the first screen does without: imported when it is asked for, or in the idle moments after that screen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from console.export.about import About as About
    from console.export.document import SUFFIXES as SUFFIXES
    from console.export.document import render as render
    from console.export.file import write_new as write_new
    from console.feed import Sink as Sink
    from console.feed import carry as carry
    from console.keymap import read_keymap as read_keymap
    from console.notification_delivery import osc9 as osc9
    from console.notification_delivery import run_quietly as run_quietly
    from console.notification_delivery import show_on_desktop as show_on_desktop
    from console.notification_rules import DeliveryMethod as DeliveryMethod
    from console.notification_rules import Occasion as Occasion
    from console.notification_rules import delivery_methods as delivery_methods
    from console.notification_rules import group_notifications as group_notifications
    from console.notification_rules import occasion_of as occasion_of
    from console.palette import Palette as Palette
    from console.panes.composer import Composer as Composer
    from console.panes.conversation import Conversation as Conversation
    from console.panes.details import details as details
    from console.panes.details import record as record
    from console.panes.help import help_page as help_page
    from console.panes.problems import problem_page as problem_page
    from console.panes.search_bar import SearchBar as SearchBar
    from console.panes.search_bar import SearchProblem as SearchProblem
    from console.panes.slider import Slider as Slider
    from console.panes.slider import TimelinePosition as TimelinePosition
    from console.render.markdown import render_markdown as render_markdown
    from console.render.timestamps import iso_time as iso_time
    from console.saved_views import run_saved_views as run_saved_views
    from console.screens.archive import Archive as Archive
    from console.screens.ask import Ask as Ask
    from console.screens.attention import NeedsAttention as NeedsAttention
    from console.screens.dead_letters import DeadLetters as DeadLetters
    from console.screens.journal import Journal as Journal
    from console.screens.list_screen import ListScreen as ListScreen
    from console.screens.main import MainScreen as MainScreen
    from console.screens.prompt import Prompt as Prompt
    from console.screens.unreadable import Unreadable as Unreadable
    from console.screens.viewer import Viewer as Viewer
    from console.screens.views import SavedViews as SavedViews
    from console.state import PersonalState as PersonalState
    from console.unseen import shown_to as shown_to
    from console.unseen import unseen as unseen
    from console.wake_command import wake as wake
    from mailstore.queries.query import parse as parse
    from mailstore.queries.search import SearchContext as SearchContext
    from mailstore.queries.search import judged as judged
    from mailstore.queries.search import looked_up as looked_up
    from mailstore.queries.time_parse import EXAMPLES as EXAMPLES
    from mailstore.queries.time_parse import read_moment as read_moment
    from mailstore.rules.waking import waking_mail as waking_mail
    from mailstore.state.past import taken_back as taken_back
    from mailstore.transfer.export import placed as placed
    from mailstore.transfer.export import whole as whole
    from mailstore.writing.replying import reply_to as reply_to
    from mailstore.writing.sending import preview as preview
    from mailstore.writing.settling import carry_out as carry_out

__all__ = ["fetch", "preload"]

HOMES = {
    "console.feed": ("Sink", "carry"),
    "console.screens.main": ("MainScreen",),
    "console.panes.conversation": ("Conversation",),
    "console.panes.composer": ("Composer",),
    "console.panes.search_bar": ("SearchBar", "SearchProblem"),
    "console.state": ("PersonalState",),
    "console.render.markdown": ("render_markdown",),
    "mailstore.writing.replying": ("reply_to",),
    "mailstore.queries.query": ("parse",),
    "mailstore.queries.search": ("SearchContext", "judged", "looked_up"),
    "console.panes.help": ("help_page",),
    "console.screens.viewer": ("Viewer",),
    "console.screens.ask": ("Ask",),
    "console.screens.prompt": ("Prompt",),
    "console.screens.list_screen": ("ListScreen",),
    "console.palette": ("Palette",),
    "console.panes.details": ("details", "record"),
    "console.screens.dead_letters": ("DeadLetters",),
    "console.screens.attention": ("NeedsAttention",),
    "console.screens.views": ("SavedViews",),
    "console.screens.journal": ("Journal",),
    "console.screens.archive": ("Archive",),
    "console.panes.problems": ("problem_page",),
    "console.screens.unreadable": ("Unreadable",),
    "console.notification_rules": (
        "Occasion",
        "DeliveryMethod",
        "group_notifications",
        "occasion_of",
        "delivery_methods",
    ),
    "console.notification_delivery": ("osc9", "run_quietly", "show_on_desktop"),
    "console.saved_views": ("run_saved_views",),
    "console.keymap": ("read_keymap",),
    "mailstore.writing.sending": ("preview",),
    "mailstore.writing.settling": ("carry_out",),
    "mailstore.queries.time_parse": ("EXAMPLES", "read_moment"),
    "mailstore.state.past": ("taken_back",),
    "console.panes.slider": ("TimelinePosition", "Slider"),
    "mailstore.rules.waking": ("waking_mail",),
    "console.unseen": ("shown_to", "unseen"),
    "console.wake_command": ("wake",),
    "console.export.document": ("SUFFIXES", "render"),
    "console.export.about": ("About",),
    "console.export.file": ("write_new",),
    "console.render.timestamps": ("iso_time",),
    "mailstore.transfer.export": ("placed", "whole"),
}
"""Modules and the names that are taken from them, those that are needed soonest first."""

_HOME = {name: module for module, names in HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for by its name, and keep it."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME[name]), name)
    return found


async def fetch(*names: str) -> None:
    """Import what some names stand for, in a thread: the larger ones would hold up keys for longer than a frame."""
    for name in names:
        await asyncio.to_thread(__getattr__, name)


async def preload(moment: Callable[[], Awaitable[None]]) -> None:
    """Import everything, each when there is a moment for it, so that the first key that needs it does not wait."""
    for name in _HOME:
        await moment()
        await fetch(name)
