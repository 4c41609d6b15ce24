"""What a shell sees of a command: its streams and its exit status."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from console.cli.terminal_io import run_loop
from tests.mailboxes import MailFiles

Shell = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def long_mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("ann-00000001")
    for number in range(2000):
        mail.message(f"message-{number}", "bob-00000001", "ann-00000001", "word " * 40, ago=100)
    return mail


@pytest.mark.parametrize("words", [["threads"], ["threads", "--json"], ["read", "--as", "ann-00000001"]])
def test_a_pipe_closed_early_ends_a_command_quietly(shell: Shell, long_mail: MailFiles, words: list[str]) -> None:
    process = shell(*words, "--store", long_mail.url)
    assert process.stdout
    assert process.stderr
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_what_never_reached_its_reader_is_not_marked(shell: Shell, long_mail: MailFiles) -> None:
    process = shell("read", "--as", "ann-00000001", "--mark", "--store", long_mail.url)
    assert process.stdout
    process.stdout.read(10)
    process.stdout.close()
    process.stderr.close() if process.stderr else None
    process.wait()
    assert not long_mail.reads.exists()


def test_a_full_disk_is_told_in_one_line(shell: Shell, long_mail: MailFiles) -> None:
    with Path("/dev/full").open("wb") as full:
        process = shell("channels", "--json", "--store", long_mail.url, stdout=full)
        _, err = process.communicate()
    assert process.returncode == 1
    assert err.startswith(b"signalbox: the output can't be written (no space left on device)")
    assert err.count(b"\n") == 1


def without(stream: int, shell: Shell, *words: object) -> tuple[int, bytes, bytes]:
    """Run a command with a standard stream closed; return its status, output and errors."""
    process = shell(*words, stdin=subprocess.DEVNULL, preexec_fn=lambda: os.close(stream))
    out, err = process.communicate()
    return process.returncode, out, err


@pytest.mark.parametrize(
    "words",
    [["read", "--as", "ann-00000001", "--mark"], ["check", "--as", "ann-00000001"], ["export"], ["status"]],
    ids=lambda words: words[0],
)
def test_where_output_is_closed_nothing_is_marked_and_that_is_said(
    words: list[str], shell: Shell, long_mail: MailFiles
) -> None:
    status, _, err = without(1, shell, *words, "--store", long_mail.url)
    assert (status, err) == (
        1,
        b"signalbox: the output can't be written (bad file descriptor): check where it goes\n",
    )
    assert not long_mail.reads.exists()


def test_closed_input_is_empty(shell: Shell, long_mail: MailFiles) -> None:
    sending = without(0, shell, "send", "--from", "user", "--to", "all", "--body", "-", "--store", long_mail.url)
    assert sending == (1, b"", b"signalbox: body is empty: write a text\n")
    status, _, err = without(0, shell, long_mail.url)
    assert status == 1
    assert b"the console needs a terminal" in err


def test_where_errors_are_closed_none_goes_to_the_output(shell: Shell, long_mail: MailFiles) -> None:
    status, out, _ = without(2, shell, "thread", "no-such-message", "--json", "--store", long_mail.url)
    assert (status, out) == (1, b"")


def test_an_interrupt_ends_a_command_quietly(shell: Shell, long_mail: MailFiles) -> None:
    process = shell("send", "--from", "user", "--to", "all", "--body", "-", "--store", long_mail.url, stdin=-1)
    assert process.stdin
    process.stdin.write(b"x" * 300_000)  # more than a pipe holds: once written, the command is reading
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"")


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_lets_what_runs_in_the_loop_finish_what_it_does() -> None:
    reported, is_cleaned_up = [], []

    async def work() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: reported.append(context))
        future = loop.create_future()

        def settle() -> None:
            if not future.done():
                interrupt()
                future.set_result(None)

        loop.call_soon(settle)
        try:
            await future
            await asyncio.Event().wait()
        finally:
            is_cleaned_up.append(True)

    with pytest.raises(KeyboardInterrupt):
        run_loop(work())
    assert (reported, is_cleaned_up) == ([], [True])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_ends_at_once_what_does_not_end() -> None:
    async def work() -> None:
        asyncio.get_running_loop().call_soon(interrupt)
        try:
            await asyncio.Event().wait()
        finally:
            interrupt()
            await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt):
        run_loop(work())


def test_what_runs_in_another_thread_or_in_the_background_is_not_interrupted() -> None:
    async def work() -> object:
        return signal.getsignal(signal.SIGINT)

    with ThreadPoolExecutor() as threads:
        assert threads.submit(run_loop, work()).result() is signal.default_int_handler
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert run_loop(work()) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_body_comes_from_standard_input(shell: Shell, long_mail: MailFiles) -> None:
    words = [
        "send",
        "--from",
        "ann-00000001",
        "--to",
        "user",
        "--body",
        "-",
        "--json",
        "--store",
        long_mail.url,
    ]
    process = shell(*words, stdin=subprocess.PIPE)
    out, err = process.communicate("två\nrader\n".encode())
    assert (process.returncode, err) == (0, b"")
    assert json.loads(out)["content"] == "två\nrader"


def test_json_is_utf8_in_any_locale(shell: Shell, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path / "wide", now=time.time())
    mail.message("m", "ann", "user", "日本語 \x9b31m \u202e", subject="é")
    for locale in ("C.UTF-8", "POSIX"):
        process = shell("thread", "m", "--json", "--store", mail.url, env={"LC_ALL": locale, "PYTHONUTF8": "0"})
        out, _ = process.communicate()
        assert json.loads(out.decode())[0]["content"] == "日本語 \x9b31m \u202e"
        assert b"\xc2\x9b" not in out


@pytest.mark.parametrize("text", ["plain", "a\x7fb", "é", "é\x7f\u2066", "\x9b31m"])
def test_json_writes_nothing_that_steers_a_terminal(shell: Shell, tmp_path: Path, text: str) -> None:
    mail = MailFiles(tmp_path / "wide", now=time.time())
    mail.message("m", "ann", "user", text)
    out, _ = shell("thread", "m", "--json", "--store", mail.url).communicate()
    assert json.loads(out)[0]["content"] == text
    assert not set("\x7f\x9b\u2066") & set(out.decode())


def test_the_console_needs_a_terminal(shell: Shell, long_mail: MailFiles) -> None:
    process = shell("open", long_mail.url)
    out, err = process.communicate()
    assert (process.returncode, out) == (1, b"")
    assert err.startswith(b"signalbox: the console needs a terminal: ")


def test_the_version_is_told_without_importing_anything_heavy(shell: Shell) -> None:
    process = shell("--version", env={"PYTHONPROFILEIMPORTTIME": "1"})
    _, err = process.communicate()
    for heavy in (b"argparse", b"msgspec", b"pydantic", b"textual", b"rich", b"importlib.metadata"):
        assert b"| " + heavy not in err.replace(b"|   ", b"| ")


@pytest.mark.parametrize("words", [["threads"], ["read", "--as", "ann-00000001"], ["agents"]])
def test_a_listing_imports_no_textual_and_no_pydantic(shell: Shell, long_mail: MailFiles, words: list[str]) -> None:
    process = shell(*words, "--json", "--store", long_mail.url, env={"PYTHONPROFILEIMPORTTIME": "1"})
    _, err = process.communicate()
    modules = {line.rsplit(b"|", 1)[-1].strip().split(b".")[0] for line in err.splitlines()}
    assert not modules & {b"textual", b"pydantic", b"watchfiles", b"asyncio"}
