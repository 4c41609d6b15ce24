"""Timers that always come. Apart from all other modules, because the application, screens and widgets inherit it."""

from __future__ import annotations

from textual.message_pump import MessagePump
from textual.timer import Timer, TimerCallback


class PunctualTimers(MessagePump):
    """Calls back after a delay, however late.

    Textual takes a timer that was due before it had begun to wait as one that nobody needs any more: where the machine
    was busy for a few milliseconds just then, a short one never came, and whoever waited for it did for ever.
    """

    def set_timer(
        self, delay: float, callback: TimerCallback | None = None, *, name: str | None = None, pause: bool = False
    ) -> Timer:
        """Call back once after some seconds."""
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        timer._skip = False
        return timer
