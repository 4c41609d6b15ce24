"""Report failed workers to the user."""

from __future__ import annotations

from textual.app import App
from textual.worker import Worker, WorkerState

__all__ = ["tell_failure"]


def tell_failure(app: App[None], event: Worker.StateChanged) -> None:
    """Show the error of a failed worker."""
    if event.state is WorkerState.ERROR:
        words = f"{event.worker.name} failed: {event.worker.error}"
        app.log.error(words, repr(event.worker.error))
        app.notify(words, severity="error", timeout=10, markup=False)
