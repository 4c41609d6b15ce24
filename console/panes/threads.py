"""The middle column: the threads of the selected view."""

from __future__ import annotations

from console.widgets.virtual_list import VirtualList


class ThreadListPane(VirtualList):
    """A list of threads, the most recent first."""
