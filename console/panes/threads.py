"""The middle column: the threads of what is chosen at the left."""

from __future__ import annotations

from console.widgets.virtual_list import VirtualList

__all__ = ["ThreadListPane"]


class ThreadListPane(VirtualList):
    """A list of threads, the one with the newest mail first; it never moves what is looked at."""
