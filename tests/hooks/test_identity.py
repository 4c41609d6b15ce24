"""Who the agent of a session is: its id, role, tags and name, whatever program and environment say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from console.hooks.events import START, HookEvent
from console.hooks.programs import program
from console.hooks.sessions.identity import AgentIdentity, identity_of, is_usable_id, own_ids, shown_name
from tests.hooks.fleet import Fleet

CODEX = "01a20164-1882-7822-bc9e-7609a32438bf"


def identity(fleet: Fleet, cwd: Path | None = None, **fields: str) -> AgentIdentity:
    tool = program("claude-code")
    assert tool is not None
    event = HookEvent(START, "SessionStart", CODEX, str(cwd or fleet.folder), **fields)  # type: ignore[arg-type]
    return identity_of(event, tool, fleet.env, fleet.mailbox)


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_an_id_ends_with_the_last_characters_of_the_session() -> None:
    assert own_ids("codex", CODEX)[0] == "codex-a32438bf"
    assert own_ids("codex", CODEX)[1] == "codex-7609a32438bf"
    assert own_ids("codex", "abc") == ("codex-abc",)
    assert all(map(is_usable_id, own_ids("opencode", "ses_4b9d7f1c2ffeXyZ01234567890abcdef-_" * 3)))


def test_the_environment_names_the_agent_its_role_and_its_tags(fleet: Fleet) -> None:
    fleet.env |= {"SIGNALBOX_AGENT": "architect-7", "SIGNALBOX_ROLE": "architect"}
    fleet.env["SIGNALBOX_TAGS"] = "concern:rules, role:reviewer,concern:rules,nonsense,domain:"
    found = identity(fleet, agent_type="reviewer")
    assert (found.wanted, found.role) == ("architect-7", "architect")
    assert found.tags == ("project:ink", "concern:rules", "role:reviewer")
    del fleet.env["SIGNALBOX_ROLE"]
    assert identity(fleet, agent_type="code reviewer").role == "code-reviewer"
    assert identity(fleet).role == ""


def test_tags_come_from_the_settings_where_the_environment_has_none(fleet: Fleet) -> None:
    settings = Path(fleet.env["XDG_CONFIG_HOME"]) / "signalbox" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[hooks]\ntags = ["domain:writing", "odd", 3]\n', encoding="utf-8")
    assert identity(fleet).tags == ("project:ink", "domain:writing")
    fleet.env["SIGNALBOX_TAGS"] = ""
    assert identity(fleet).tags == ("project:ink",)
    del fleet.env["SIGNALBOX_TAGS"]
    for damaged in (b"[hooks\n", b"hooks = 3\n", b"[hooks]\ntags = 'x'\n", b"[hooks]\ntags = \xff\n"):
        settings.write_bytes(damaged)
        assert identity(fleet).tags == ("project:ink",)


def test_the_name_is_the_title_of_the_session_or_else_the_branch(fleet: Fleet) -> None:
    assert identity(fleet).name == ""
    git(fleet.folder, "init")
    assert identity(fleet, fleet.folder / "data").name == "main"
    git(fleet.folder, "checkout", "-b", "feature/leaf-12")
    assert identity(fleet).name == "feature-leaf-12"
    assert identity(fleet, title="Über die Blätter\n\x1b[31m \u202e").name == "Uber die Blatter 31m"
    (fleet.folder / ".git" / "HEAD").write_text("4b825dc642cb6eb9a060e54bf8d69288fbee4904\n", encoding="utf-8")
    assert identity(fleet).name == ""


def test_worktrees_of_a_repository_have_one_project(fleet: Fleet, tmp_path: Path) -> None:
    git(fleet.folder, "init")
    git(fleet.folder, "commit", "--allow-empty", "-m", "x")
    git(fleet.folder, "worktree", "add", str(tmp_path / "elsewhere"), "-b", "side")
    found = identity(fleet, tmp_path / "elsewhere")
    assert (found.tags, found.name) == (("project:ink",), "side")


def test_a_bare_repository_is_a_project_too(fleet: Fleet, tmp_path: Path) -> None:
    git(fleet.folder, "init")
    git(fleet.folder, "commit", "--allow-empty", "-m", "x")
    git(tmp_path, "clone", "--bare", str(fleet.folder), "loom.git")
    git(tmp_path / "loom.git", "worktree", "add", "-b", "side", str(tmp_path / "side"))
    assert identity(fleet, tmp_path / "side").tags == ("project:loom",)


@pytest.mark.parametrize(
    ("folder", "project"),
    [("My Project (2)", "My-Project--2"), ("Übung", "Ubung"), ("проект", "folder-"), ("a,b", "a-b")],
)
def test_a_folder_s_name_becomes_a_tag_that_every_program_can_write(
    fleet: Fleet, tmp_path: Path, folder: str, project: str
) -> None:
    (tmp_path / folder / ".git").mkdir(parents=True)
    (tag,) = identity(fleet, tmp_path / folder).tags
    assert tag.startswith(f"project:{project}")
    assert tag.isascii()


@pytest.mark.parametrize(
    "text",
    ["", "all", "user", "-rf", ".hidden", "a b", "a/b", "../../etc", "a\nb", "$(id)", "a;b", "a'b", "é", "x" * 65,
     "project:x", "agent:x", "person:ann", "role:x", "\x1b[31m"],
)  # fmt: skip
def test_what_can_t_be_part_of_a_command_or_an_address_is_no_id(text: str) -> None:
    assert not is_usable_id(text)


@pytest.mark.parametrize("text", ["architect-7", "bob@localhost", "@neo-gpt", "claude-a66516ad.2", "v1.2", "team:7"])
def test_ordinary_ids_are_used(text: str) -> None:
    assert is_usable_id(text)


@pytest.mark.parametrize("title", ["user", "all", "project:ink", "person:ann", "agent:x", "\x00", "   ", "данные"])
def test_a_title_that_would_be_another_address_is_no_name(title: str) -> None:
    assert shown_name(title) == ""
