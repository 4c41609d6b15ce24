"""How this program was installed, and the command that installs what is missing beside it: by pip, pipx or uv."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "signalbox-console"
EVERYTHING = "all"
"""The extra that brings all those that users ask for."""
REQUIREMENT = re.compile(r"([\w.-]+).*\bextra == ['\"]([\w-]+)['\"]")
UV_CACHE = ("archive-v0", "environments-v2")
"""Folders of uv's cache, in which `uvx` and `uv run` make their environments."""


class InstallSource(NamedTuple):
    """Where the distribution came from: a URL, or a checkout that it runs in; empty: from the index."""

    url: str = ""
    checkout: str = ""


def remedy(extra: str) -> str:
    """Return the second half of an error: the command that adds an extra to this very installation."""
    return f"run {adding(extra, [each for each in extras() if each != extra and is_installed(each)])}"


def package_remedy(name: str) -> str:
    """Return the second half of an error: the command that installs another distribution beside this one."""
    return f"run {adding_package(name)}"


def extras() -> list[str]:
    """Return the extras that users may ask for, as the installed distribution has them; none where it has gone."""
    brought = _brought()
    every = brought.pop(EVERYTHING, set())
    return sorted(extra for extra, names in brought.items() if names <= every)


def is_installed(extra: str) -> bool:
    """Return whether every distribution that an extra brings is installed; nothing is imported."""
    try:
        return all(distribution(name) for name in _brought().get(extra, ()))
    except PackageNotFoundError:
        return False


def _brought() -> dict[str, set[str]]:
    """Return the distributions that each extra brings."""
    result: dict[str, set[str]] = {}
    try:
        lines = distribution(DISTRIBUTION).requires or []
    except PackageNotFoundError:
        return result
    for required in filter(None, map(REQUIREMENT.match, lines)):
        result.setdefault(required[2], set()).add(required[1])
    return result


def adding(extra: str, others: Sequence[str] = ()) -> str:
    """Return the command that adds an extra to this installation, and keeps the `others`.

    pipx and uv's tools install anew, and drop whatever is not named again; pip adds.
    """
    origin, prefix = _origin(), Path(sys.prefix)
    added, every = _wanted(origin, [extra]), _wanted(origin, [*others, extra])
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv tool install {every}"
    if (prefix / "pipx_metadata.json").is_file():
        if prefix.parent.name == ".cache":
            return f"pipx run --spec {every} signalbox"
        return f"pipx install --force {every}"
    if any(name in prefix.parts for name in UV_CACHE):
        return f"uvx --from {every} signalbox"
    return f"{_pip(prefix)} {added}"


def adding_package(name: str) -> str:
    """Return the command that installs another distribution beside this one."""
    prefix = Path(sys.prefix)
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv tool install {_wanted(_origin(), [])} --with {name}"
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx inject {DISTRIBUTION} {name}"
    if any(each in prefix.parts for each in UV_CACHE):
        return f"uvx --with {name} --from {_wanted(_origin(), [])} signalbox"
    return f"{_pip(prefix)} {name}"


def _wanted(origin: InstallSource, extras: Sequence[str]) -> str:
    """Return what to install, quoted for a shell: by its name, or from where this one came."""
    listed = f"[{','.join(sorted(extras))}]" if extras else ""
    if origin.checkout:
        return f"--editable {shlex.quote(origin.checkout + listed)}"
    name = f"{DISTRIBUTION}{listed}"
    return shlex.quote(f"{name} @ {origin.url}" if origin.url else name)


def _pip(prefix: Path) -> str:
    """Return how pip is called for this Python, whatever else is on the PATH."""
    beside = Path(sys.executable).parent
    program = shutil.which("pip")
    if program is not None and Path(program).parent == beside:
        return "pip install"
    if not any((beside / name).exists() for name in ("pip", "pip3")) and _is_uvs(prefix):
        return f"uv pip install --python {shlex.quote(sys.executable)}"
    return f"{shlex.quote(sys.executable)} -m pip install"


def _is_uvs(prefix: Path) -> bool:
    try:
        lines = (prefix / "pyvenv.cfg").read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    return any(line.partition("=")[0].strip() == "uv" for line in lines)


def _origin() -> InstallSource:
    """Return where the distribution came from, as its installer noted; a file that has gone since is not named."""
    try:
        noted = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
        url = str(noted["url"])
        parts = urlsplit(url)
        path = unquote(parts.path) if parts.scheme == "file" else ""
        if noted.get("dir_info", {}).get("editable"):
            return InstallSource(checkout=path)
        if path and not Path(path).exists():
            return InstallSource()
        system = noted.get("vcs_info", {})
        if system:
            return InstallSource(f"{system['vcs']}+{url}@{system.get('requested_revision') or system['commit_id']}")
    except (PackageNotFoundError, ValueError, KeyError, AttributeError, TypeError):
        return InstallSource()
    return InstallSource(url)
