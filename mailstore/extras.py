"""What is installed on request: which extra brings which packages, and what to run where one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from mailstore.installation import adding, adding_package

EXTRAS: dict[str, tuple[str, ...]] = {
    "agentazall": ("cryptography", "httpx2", "imapclient"),
    "mcp": ("mcp",),
    "nats": ("cryptography", "nats"),
    "serve": ("textual_serve",),
}
"""What each extra of pyproject.toml brings, as it is imported."""


def is_installed(extra: str) -> bool:
    """Return whether everything that an extra brings is installed; nothing is imported."""
    return all(find_spec(name) is not None for name in EXTRAS[extra])


def remedy(extra: str) -> str:
    """Return the second half of an error: the command that adds an extra to this very installation."""
    return f"run {adding(extra, [each for each in EXTRAS if each != extra and is_installed(each)])}"


def package_remedy(name: str) -> str:
    """Return the second half of an error: the command that installs another distribution beside this one."""
    return f"run {adding_package(name)}"
