"""The command `signalbox serve`: how it begins, what it says, and that no console outlives it."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession

from console.serve.access import PageAccess
from console.serve.console_process import ConsoleProcess
from tests.cli.conftest import Run, run
from tests.console.test_in_a_terminal import mailbox
from tests.serve.served import Page, Served, ended, processes_of, told_of
from tests.servers.certificates import Certificates

__all__ = ["run"]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_what_can_not_be_served_is_told_with_a_remedy(
    run: Run, work: Path, server_certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = mailbox(work).url
    locked = work / "locked.pem"
    locked.write_bytes(server_certificates.key.read_bytes())
    good = (server_certificates.certificate, server_certificates.key)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for words, told in (
            (("--port", port), f"port {port} on 127.0.0.1 is in use: choose another with --port"),
            (("--port", 70000), "--port 70000 is not a port: give a number"),
            (("--max", 0), "--max 0 leaves no console: give a positive number"),
            (("--host", "0.0.0.0"), "0.0.0.0 can be reached from other machines, and nothing would be encrypted: give"),
            (("--host", "::"), ":: can be reached from other machines"),
            (("--host", "192.0.2.1", "--cert", good[0], "--key", good[1]), "can't listen on 192.0.2.1, port 8400 ("),
            (("--host", "no such host", "--cert", good[0], "--key", good[1]), "can't listen on no such host"),
            (("--cert", good[0]), "--cert and --key go together: give both"),
            (("--cert", "no.pem", "--key", good[1]), "--cert no.pem can't be read (no such file or directory): give"),
            (("--cert", good[0], "--key", work), f"--key {work} can't be read (not a regular file): give"),
            (("--cert", good[1], "--key", good[1]), "are no certificate and its key ("),
            (("--cert", server_certificates.elsewhere, "--key", good[1]), "are no certificate and its key ("),
            (("--links", locked / "l"), f"{locked}/l can't be written (file exists): name another file"),
        ):
            done = run("serve", url, *words)
            assert done.status in (1, 2), words
            assert told in done.err
            assert done.out == ""
    assert "no mailbox" in run("serve", work / "nothing").err
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    monkeypatch.setattr("console.cli.serve.is_installed", lambda extra: extra != "serve")
    missing = run("serve", url)
    assert "the package textual-serve is not installed: run " in missing.err


def test_links_that_others_can_read_are_refused(run: Run, work: Path) -> None:
    kept = work / "links"
    kept.write_text("full http://127.0.0.1:1/?token=" + "0" * 32 + "\n", encoding="ascii")
    kept.chmod(0o644)
    assert f"others can read {kept}: chmod 600 {kept}" in run("serve", mailbox(work).url, "--links", kept).err


def test_links_of_another_user_are_refused(run: Run, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = work / "links"
    kept.touch(0o600)
    monkeypatch.setattr("os.geteuid", lambda: kept.stat().st_uid + 1)
    assert (
        f"{kept} belongs to another user: name a file of your own"
        in run("serve", mailbox(work).url, "--links", kept).err
    )


async def test_consoles_end_with_their_pages_and_with_the_server_however_it_ends(tmp_path: Path) -> None:
    mail = mailbox(tmp_path / "mail")
    home = tmp_path / "home"
    home.mkdir()
    with Served(mail.url, home, "--observe-link") as server:
        token = server.token
        assert server.links_file.stat().st_mode & 0o777 == 0o600
        first, second = Page(server), Page(server, "read-only")
        try:
            await first.open()
            await first.see("Dry ink")
            consoles = server.consoles()
            with ended(consoles):
                await first.socket.close()
            await second.open()
            await second.see("Dry ink")
            (console,) = server.consoles()
            assert os.getsid(console) == console
            for pid in (server.process.pid, console):
                told = told_of(pid)
                assert "console" in told
                assert "HOME=" in told
                assert token not in told
            with ended([console, *processes_of(console)]):
                server.process.kill()
        finally:
            await first.session.close()
            await second.session.close()
        assert token not in server.said
    with Served(mail.url, home) as again:
        assert again.token == token  # the links outlast a restart
        status, out, err = again.stop(signal.SIGTERM)
        assert (status, err) == (0, "")
        assert token not in out


STUBBORN = """
import signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-S", "-c", "import signal, time; signal.signal(15, 1); signal.pause()"])
sys.stdout.write(f"__GANGLION__\\nD\\0\\0\\0\\x08{child.pid:8}")
sys.stdout.flush()
signal.pause()
"""


async def test_a_console_that_hangs_is_killed_with_all_that_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.serve.console_process.QUIT_SECONDS", 0.05)
    monkeypatch.setattr("console.serve.console_process.TERMINATE_SECONDS", 0.05)
    console = await ConsoleProcess.start([sys.executable, "-S", "-c", STUBBORN], PageAccess.FULL, (80, 24))
    async for _, payload in console.packets():
        with ended([int(payload)]):
            await console.end()
        break
    assert console.status == -signal.SIGKILL


async def test_with_a_certificate_everything_is_encrypted(tmp_path: Path, server_certificates: Certificates) -> None:
    import ssl

    mail = mailbox(tmp_path / "mail")
    home = tmp_path / "home"
    home.mkdir()
    files = ("--cert", str(server_certificates.certificate), "--key", str(server_certificates.key))
    with Served(mail.url, home, *files) as server:
        assert server.address.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=server_certificates.authority)
        async with ClientSession() as session:
            answer = await session.get(server.links["full"], ssl=context, allow_redirects=False)
            assert answer.status == 303
            assert "Secure" in answer.headers["Set-Cookie"]
        assert server.stop()[0] == 0
