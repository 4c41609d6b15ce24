"""Report failed workers to the user."""

from __future__ import annotations

from textual.app import App
from textual.worker import Worker, WorkerState

from mailstore.errors import MailError, log_unexpected, reason_of


def tell_failure(app: App[None], event: Worker.StateChanged) -> None:
    """Show the error of a failed worker."""
    if event.state is WorkerState.ERROR:
        error = event.worker.error
        if isinstance(error, Exception):
            log_unexpected(error, f"worker {event.worker.name} of group {event.worker.group}")
            words = str(error) if isinstance(error, MailError) else f"{event.worker.name} failed: {reason_of(error)}"
            app.notify(words, severity="error", timeout=10, markup=False)
