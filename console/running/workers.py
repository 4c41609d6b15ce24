"""Start work beside what the screen does, and tell the user when it fails: all of it ends with the application."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol
from weakref import finalize

from textual.app import App
from textual.worker import Worker, WorkerState

from mailstore.errors import MailError, log_unexpected, reason_of


class RunsWorkers(Protocol):
    """What starts a worker, which ends with it: an application, a screen or a part of it."""

    def run_worker(
        self, work: Coroutine[Any, Any, Any], *, group: str, exclusive: bool = False, exit_on_error: bool
    ) -> Worker[Any]:
        """Run a coroutine; an exclusive one cancels others of its group."""


def start_worker(
    owner: RunsWorkers, work: Coroutine[Any, Any, object], *, group: str, exclusive: bool = False
) -> Worker[object]:
    """Run a coroutine beside others until its owner closes; an exclusive one cancels others of its group."""
    worker: Worker[object] = owner.run_worker(work, group=group, exclusive=exclusive, exit_on_error=False)
    finalize(worker, work.close)  # cancelled before its first step, a coroutine is never awaited
    return worker


def tell_failure(app: App[None], event: Worker.StateChanged) -> None:
    """Show the error of a failed worker."""
    if event.state is WorkerState.ERROR:
        error = event.worker.error
        if isinstance(error, Exception):
            log_unexpected(error, f"worker {event.worker.name} of group {event.worker.group}")
            words = str(error) if isinstance(error, MailError) else f"{event.worker.name} failed: {reason_of(error)}"
            app.notify(words, severity="error", timeout=10, markup=False)
