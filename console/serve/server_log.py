"""What goes wrong in the web server, in one line each: whatever is sent to it fills no terminal and no log."""

from __future__ import annotations

import logging
from collections.abc import Callable

from aiohttp.http_exceptions import HttpProcessingError

from console.render.safe import visible_line

LONGEST = 400


def server_logger(warn: Callable[[str], None]) -> logging.Logger:
    """Return a logger for aiohttp that warns of our own mistakes alone."""
    logger = logging.Logger("signalbox.serve", logging.ERROR)
    logger.addHandler(_Warning(warn))
    return logger


def problem_text(words: str, error: BaseException | None) -> str:
    """Return a line about a problem; empty for what others do to a connection."""
    if isinstance(error, HttpProcessingError | ConnectionError):
        return ""
    return visible_line(f"{words}: {error!r}" if error is not None else words)[:LONGEST]


class _Warning(logging.Handler):
    def __init__(self, warn: Callable[[str], None]) -> None:
        super().__init__()
        self._warn = warn

    def emit(self, record: logging.LogRecord) -> None:
        if text := problem_text(record.getMessage(), record.exc_info[1] if record.exc_info else None):
            self._warn(text)
