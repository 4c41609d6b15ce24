"""Where a command meets the shell: exit statuses, one-line errors, interrupts, and streams that are closed early."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, TypeVar

    Result = TypeVar("Result")

INTERRUPTED = 130


def replace_closed_streams() -> None:
    """Replace each standard stream that the caller closed: input is empty then, and output fails where it is written.

    Python sets it to None, which `print` takes for success, and the next file that is opened would get its number.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115 - these stay open as long as the program runs
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def guarded(work: Callable[[list[str]], int], words: list[str]) -> int:
    """Run a command and return its exit status; every exception becomes a message and a status."""
    try:
        return _finished(_attempt(work, words))
    except BrokenPipeError:
        _drop_output()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _drop_output()
        tell(f"the output can't be written ({_reason(error)})", "check where it goes")
        return 1


def _attempt(work: Callable[[list[str]], int], words: list[str]) -> int:
    try:
        return work(words)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None and not isinstance(error, FileNotFoundError):
            raise  # stores raise StoreError, so this comes from the output
        return _explained(error)


def _explained(error: Exception) -> int:
    from mailstore.errors import MailError

    if isinstance(error, MailError):
        tell(error.problem, error.remedy)
        return getattr(error, "status", 1)
    if isinstance(error, FileNotFoundError) and error.filename is None:  # of os.getcwd
        tell("the current folder was removed", "change to another")
        return 1
    if isinstance(error, OSError):
        tell(f"{error.filename}: {_reason(error)}", "check the path, its permissions and the free space")
        return 1
    if isinstance(error, MemoryError):
        tell("not enough memory", "close other programs, or archive settled threads")
        return 1
    if isinstance(error, RuntimeError) and "home directory" in str(error):  # of pathlib, and of platformdirs
        tell("no home folder is known for this user", "set HOME")
        return 1
    if os.environ.get("SIGNALBOX_DEBUG"):
        import traceback

        traceback.print_exception(error)
        return 1
    tell(f"internal error ({type(error).__name__}: {error})", "set SIGNALBOX_DEBUG=1 to see the traceback")
    return 1


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def run_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in an event loop; SIGINT cancels it between two callbacks, a second one ends it at once.

    `asyncio.run` cancels wherever the signal comes: a callback that is about to set a result then fails, and says so
    on standard error. Raises KeyboardInterrupt.
    """
    import asyncio
    import signal
    from threading import current_thread, main_thread

    is_interrupted = False

    async def run() -> Result:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def interrupt() -> None:
            nonlocal is_interrupted
            is_interrupted = True
            loop.remove_signal_handler(signal.SIGINT)
            task.cancel()

        loop.add_signal_handler(signal.SIGINT, interrupt)
        try:
            return await work
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return asyncio.run(work)
    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        if is_interrupted:
            raise KeyboardInterrupt from None
        raise


def _finished(status: int) -> int:
    """Flush, so that a closed pipe is noticed here and not at interpreter exit."""
    sys.stdout.flush()
    return status


def _drop_output() -> None:
    """Discard buffered output, which the interpreter would fail to flush at exit."""
    try:
        descriptor = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def put(text: str = "") -> None:
    """Print text with every control sequence but bold made visible; escape what the encoding lacks."""
    if not (text.isascii() and text.replace("\n", "").isprintable()):
        from console.render.safe import printed

        text = printed(text)
    print(in_encoding(text))


def in_encoding(text: str) -> str:
    """Return a text with what the encoding of standard output lacks escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def tell(problem: str, remedy: str = "") -> None:
    """Write `signalbox: PROBLEM: REMEDY` to standard error, in one line."""
    from console.render.safe import visible_line

    text = f"signalbox: {problem}: {remedy}" if remedy else f"signalbox: {problem}"
    try:
        sys.stderr.write(f"{visible_line(text)}\n")  # at once: other threads tell something too
        sys.stderr.flush()
    except OSError:
        return


def warn(text: str) -> None:
    """Write a warning to standard error: the command was carried out, but perhaps not as intended."""
    tell(f"warning: {text}")


def warn_unregistered(reader: str) -> None:
    """Write that a reader is not in the roster: most likely a typing error."""
    warn(f'"{reader}" is not registered: signalbox agents lists the roster')
