"""`signalbox service`: units that systemd accepts and that run what was meant."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.cli.conftest import Run
from tests.shell.conftest import STANDARD, installed

WORDS = {
    "serve": ["haak:/srv/lab", "--port", "8100"],
    "sync": ["/srv/lab/data/mailboxes"],
    "mirror": ["haak:/srv/lab", "nats://mail.example/lab", "--both"],
    "wake": ["--as", "ann-00000001", "--store", "haak:/srv/lab", "--", "sh", "-c", 'echo "$SIGNALBOX_COUNT" 100%'],
}


@pytest.mark.parametrize("name", WORDS)
def test_a_unit_runs_the_command_as_it_was_given(run: Run, name: str) -> None:
    result = run("service", name, *WORDS[name])
    assert (result.status, result.err) == (0, "")
    lines = dict(line.split("=", 1) for line in result.out.splitlines() if "=" in line)
    assert lines["WorkingDirectory"] == str(Path.cwd())
    assert lines["Documentation"] == f"man:signalbox-{name}(1)"
    assert f" {name} {WORDS[name][0]} {WORDS[name][1] if len(WORDS[name]) > 1 else ''}".rstrip() in lines["ExecStart"]
    if name == "wake":
        assert lines["ExecStart"].endswith('sh -c "echo \\"$$SIGNALBOX_COUNT\\" 100%%"')


@pytest.mark.program("systemd-analyze")
def test_systemd_accepts_the_units(run: Run, tmp_path: Path) -> None:
    program = installed("systemd-analyze")
    files = []
    for name, words in WORDS.items():
        path = tmp_path / f"signalbox-{name}.service"
        path.write_text(run("service", name, *words).out)
        files.append(str(path))
    with TemporaryDirectory() as short:  # other units name sockets there, whose names have a limit
        done = subprocess.run(
            [program, "--user", "--man=no", "verify", *files],
            env={"PATH": STANDARD, "HOME": str(tmp_path), "XDG_RUNTIME_DIR": short},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mirror", "A"], "B is required"),
        (["send", "x"], 'action can\'t be "send"'),
        (["mirror", "nats://ann:hunter2@host/box", "haak:/srv"], "name a file with it in the settings"),
        (["sync", "a\x1b[31m"], "a control character"),
        (["serve", "--prot", "1"], "unknown option --prot"),
    ],
)
def test_what_would_not_run_is_refused(run: Run, words: list[str], said: str) -> None:
    result = run("service", *words)
    assert result.status > 0
    assert result.out == ""
    assert said in result.err
    assert "hunter2" not in result.err


def test_a_unit_imports_nothing_from_its_folder_and_no_line_joins_the_next(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = run("service", "serve", "haak:/srv/lab\\").out.splitlines()
    assert "Description=Signalbox: serve haak:/srv/lab" in words
    (line,) = [word for word in words if word.startswith("ExecStart=")]
    assert " -P -m console serve " in line
    assert line.endswith('"haak:/srv/lab\\\\"')
    folder = tmp_path / "lab\\"
    folder.mkdir()
    monkeypatch.chdir(folder)
    refused = run("service", "serve")
    assert (refused.status, refused.out) == (1, "")
    assert "a service can't begin in" in refused.err
