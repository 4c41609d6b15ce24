"""The console's log, for bug reports: what failed inside the program, and where.

It holds kinds of errors and places in the program, never their words or any value: these may quote mail.
"""

from __future__ import annotations

import logging
import os
import platform
import queue
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from io import TextIOWrapper
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from traceback import walk_tb
from types import CodeType

from mailstore.errors import LOGGER, MailError
from mailstore.files.whole import open_regular
from mailstore.store import Store

MOST_BYTES = 1_000_000
OLDER_FILES = 2
MOST_FRAMES = 30


class LogFile:
    """Logs to a file from a thread of its own, so that the event loop never waits for a disk.

    Without `logs_commands` only failures are logged. The file is private, made with the first record, and replaced at
    1 MB; two older ones are kept. A file that can't be written is left as it is: a log never ends the program.
    """

    def __init__(self, path: Path, *, logs_commands: bool) -> None:
        self.path = path
        self._handler = QueueHandler(queue.SimpleQueue())
        self._handler.setFormatter(_Failures())
        self._listener = QueueListener(self._handler.queue, _PrivateFile(path))
        if logs_commands:
            logging.getLogger(LOGGER).setLevel(logging.DEBUG)
        logging.getLogger().addHandler(self._handler)
        self._listener.start()

    def note_start(self, store: Store, width: int, height: int) -> None:
        """Log what a report must say of the surroundings: versions, terminal, kind of mailbox."""
        logging.getLogger(LOGGER).debug(
            "Signalbox %s, Python %s on %s, Textual %s, %d x %d cells of %s, mailbox of kind %s",
            version("signalbox-console"),
            platform.python_version(),
            platform.system(),
            version("textual"),
            width,
            height,
            os.environ.get("TERM", "an unnamed terminal"),
            store.kind,
        )

    def close(self) -> None:
        """Write what is left, and end the thread."""
        logging.getLogger().removeHandler(self._handler)
        logging.getLogger(LOGGER).setLevel(logging.NOTSET)
        self._listener.stop()
        for handler in self._listener.handlers:
            with suppress(OSError):  # the disk is full
                handler.close()


class _PrivateFile(RotatingFileHandler):
    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MOST_BYTES, backupCount=OLDER_FILES, encoding="utf-8", delay=True)

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return open(self.baseFilename, "a", encoding="utf-8", opener=open_regular)

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - the library's name
        try:
            return bool(super().shouldRollover(record))
        except OSError:
            return False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Drop the record: the disk is full, or the folder can't be written."""


class _Failures(logging.Formatter):
    """One line a record, then a line for each place that an error came through, innermost last."""

    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03d"

    def format(self, record: logging.LogRecord) -> str:
        # what other loggers say may quote anything: their name must do
        words = record.getMessage() if record.name == LOGGER else f"logged by {record.name}"
        error = record.exc_info[1] if record.exc_info else None
        lines = [f"{self.formatTime(record)} {record.levelname} {words}", *_told(error)]
        return "\n  ".join(lines)


def _told(error: BaseException | None) -> Iterator[str]:
    """Yield an error's kind and places, then those of the error that it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        code = error.code if isinstance(error, MailError) else ""
        yield f"{type(error).__qualname__} {code}".rstrip()
        places = [_place(frame.f_code, line) for frame, line in walk_tb(error.__traceback__)]
        left_out = len(places) - MOST_FRAMES
        if left_out > 0:
            places[MOST_FRAMES // 2 : -MOST_FRAMES // 2] = [f"... {left_out} more"]
        yield from places
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _place(code: CodeType, line: int) -> str:
    """Return a place in the program without the folder in which the program is installed."""
    return f"{'/'.join(Path(code.co_filename).parts[-3:])}:{line} {code.co_name}"
