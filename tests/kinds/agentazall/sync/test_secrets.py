"""Passwords and tokens: read from where the settings say, and shown nowhere."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from mailstore.kit.secret import Secret, SecretMissing


def test_a_secret_is_read_from_a_file_the_environment_or_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("s3cret\nnot this\n")
    file.chmod(0o600)
    monkeypatch.setenv("THE_TOKEN", "from outside")
    assert Secret.in_file(file).reveal() == "s3cret"
    assert Secret.in_environment("THE_TOKEN").reveal() == "from outside"
    assert Secret.from_command([sys.executable, "-c", "print('printed')"]).reveal() == "printed"


def test_a_file_that_others_can_read_is_refused_with_how_to_mend_it(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("s3cret")
    file.chmod(0o644)
    with pytest.raises(SecretMissing, match=f"others can read {file}: chmod 600 {file}"):
        Secret.in_file(file).reveal()


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        (Secret.in_file(Path("/nowhere/token")), r"/nowhere/token can't be read \(no such file or directory\)"),
        (Secret.in_file(Path("/dev/null")), "not a regular file"),
        (Secret.in_environment("NOT_SET_ANYWHERE"), r"\$NOT_SET_ANYWHERE is not set"),
        (Secret.from_command(["/nowhere/pass"]), "/nowhere/pass printed no secret"),
        (Secret.from_command([sys.executable, "-c", "import sys; print('s3cret'); sys.exit(3)"]), "exit status 3"),
        (Secret.from_command([sys.executable, "-c", "pass"]), "gives no secret"),
    ],
)
def test_a_secret_that_is_not_there_is_named_by_its_place(secret: Secret, words: str) -> None:
    with pytest.raises(SecretMissing, match=words) as error:
        secret.reveal()
    assert "s3cret" not in str(error.value)


def test_a_secret_is_never_shown() -> None:
    secret = Secret.of("s3cret")
    assert "s3cret" not in f"{secret!r} {secret} {[secret]} {vars(type(secret))}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
