"""A password or token that is read when it is needed, and never shown."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from mailstore.errors import MailError, reason_of
from mailstore.files.whole import open_regular

LARGEST = 1 << 16
COMMAND_SECONDS = 30.0
OTHERS = stat.S_IRWXG | stat.S_IRWXO


class SecretMissing(MailError):
    """A password or token can't be read from where the settings say."""


class Secret:
    """Something that only the other side may see; whoever prints it sees nothing."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read

    @classmethod
    def of(cls, text: str) -> Secret:
        return cls(lambda: text)

    @classmethod
    def in_file(cls, path: Path) -> Secret:
        """Return the secret on the first line of a file that only its owner can read."""
        return cls(lambda: _from_file(path))

    @classmethod
    def in_environment(cls, name: str) -> Secret:
        """Return the secret in a variable of the environment."""
        return cls(lambda: _from_environment(name))

    @classmethod
    def from_command(cls, words: Sequence[str]) -> Secret:
        """Return the secret on the first line that a program prints."""
        return cls(lambda: _from_command(tuple(words)))

    def reveal(self) -> str:
        """Return the secret; may block. Raises SecretMissing."""
        return self._read()

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("a secret can't be stored")


def private_text(path: Path, *, is_own: bool = False) -> str:
    """Return the text of a file that only its owner can read, on request only of one's own. Raises SecretMissing."""
    try:
        fd = open_regular(path)
        try:
            facts = os.fstat(fd)
            if not stat.S_ISREG(facts.st_mode):
                raise SecretMissing(f"{path} is not a file", "name a file that holds the secret", "E564")
            if facts.st_mode & OTHERS:
                raise SecretMissing(f"others can read {path}", f"chmod 600 {path}", "E565")
            if is_own and facts.st_uid != os.geteuid():
                raise SecretMissing(f"{path} belongs to another user", "name a file of your own", "E566")
            data = os.read(fd, LARGEST)
        finally:
            os.close(fd)
    except OSError as error:
        raise SecretMissing(
            f"{path} can't be read ({reason_of(error)})", "check its path in the settings", "E251"
        ) from error
    return data.decode("utf-8", "replace")


def _from_file(path: Path) -> str:
    return _first(private_text(path), str(path))


def _from_environment(name: str) -> str:
    if secret := os.environ.get(name, ""):
        return secret
    raise SecretMissing(f"${name} is not set", "set it, or name another variable with secret_env", "E560")


def _from_command(words: tuple[str, ...]) -> str:
    called = words[0] if words else "the command"
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=COMMAND_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        # the words of an error may quote what the program printed
        why = reason_of(error) if isinstance(error, OSError) else "it took too long"
        raise SecretMissing(
            f"{called} printed no secret ({why})", "check secret_command in the settings", "E563"
        ) from None
    if done.returncode:
        raise SecretMissing(
            f"{called} printed no secret (exit status {done.returncode})", "run it by hand to see why", "E561"
        )
    return _first(done.stdout.decode("utf-8", "replace"), called)


def _first(text: str, called: str) -> str:
    text = text.split("\n", 1)[0].strip()
    if not text:
        raise SecretMissing(f"{called} gives no secret", "its first line must be the secret", "E562")
    return text
