"""Report failed workers to the user."""

from __future__ import annotations

from textual.app import App
from textual.worker import Worker, WorkerState

from mailstore.errors import log_unexpected


def tell_failure(app: App[None], event: Worker.StateChanged) -> None:
    """Show the error of a failed worker."""
    if event.state is WorkerState.ERROR:
        words = f"{event.worker.name} failed: {event.worker.error}"
        if event.worker.error is not None:
            log_unexpected(event.worker.error, f"worker {event.worker.name} of group {event.worker.group}")
        app.notify(words, severity="error", timeout=10, markup=False)
