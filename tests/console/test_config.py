"""Settings: a wrong one is told by file and key, and costs none of the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import asdict

from console.settings.config import Config, config_folder, whole_config
from console.settings.config_file import load_config
from mailstore.rules.retention import Retention


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "config.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_without_a_file_everything_is_as_it_comes(tmp_path: Path) -> None:
    assert load_config(tmp_path / "config.toml") == (Config(), [])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('quiet_from = "late"', '[notifications]: quiet_from must be a time such as "22:00"; using nothing'),
        ('to_me = ["shout"]', '[notifications]: to_me[0] can\'t contain "shout"'),
        ("too_me = []", 'did you mean "to_me"?'),
    ],
)
def test_a_wrong_setting_in_a_table_is_told_and_costs_none_of_the_others(line: str, said: str, tmp_path: Path) -> None:
    config, problems = load_config(write(tmp_path, f'[notifications]\n{line}\ncommand = "tell"\n'))
    assert len(problems) == 1
    assert said in problems[0]
    assert config.notifications.command == "tell"


def test_the_settings_lie_where_the_environment_says(tmp_path: Path) -> None:
    assert config_folder().is_relative_to(tmp_path)
    config_folder().mkdir(parents=True)
    write(config_folder(), 'theme = "blackout"')
    assert load_config().config.theme == "blackout"


def test_every_setting_can_be_set(tmp_path: Path) -> None:
    text = """
    store = "haak:data"
    user = "petra"
    theme = "timetable"
    editor = "nano -w"
    poll = true
    observe = true
    stale_after_minutes = 5
    bell = false
    keymap = { help = "f9" }
    notifications = { channel = ["bell"], quiet_from = "22:00", quiet_to = "07:00" }
    attention = { unread_minutes = 5, loop_messages = 3 }
    retention = { days = 7, messages = 5000 }
    archive = { keep = 3, offer_past = 0 }
    policy = { to_user = ["orchestrator"] }
    search = { index = true }
    wake = { command = ["waker", "-v"], types = ["question"] }
    hooks = { tags = ["domain:press"] }
    deliver = { mine = true }
    agent_mail = { url = "http://127.0.0.1:8765/mcp/", secret_file = "~/token", ca_file = "a.pem" }
    nats = { user = "maria", password_file = "~/nats" }
    opencode = { url = "http://127.0.0.1:4096" }
    """
    config, problems = load_config(write(tmp_path, text))
    assert not problems
    assert (config.notifications.channel, config.notifications.quiet_from) == (["bell"], "22:00")
    assert (config.attention.unread_minutes, config.attention.loop_messages) == (5.0, 3)
    assert config.retention.rule() == Retention(7.0, 5000)
    assert (config.archive.keep, config.archive.offer_past) == (3, 0)
    assert config.policy.to_user == ["orchestrator"]
    assert (config.wake.command, config.wake.types) == (["waker", "-v"], ["question"])
    assert config.search.index
    assert config.hooks.tags == ["domain:press"]
    assert config.deliver.mine
    assert (config.agent_mail.url, config.agent_mail.secret_file) == ("http://127.0.0.1:8765/mcp/", "~/token")
    assert (config.nats.user, config.nats.password_file) == ("maria", "~/nats")
    assert config.opencode.url == "http://127.0.0.1:4096"
    tables = {
        "agent_mail",
        "archive",
        "attention",
        "away",
        "deliver",
        "hooks",
        "nats",
        "notifications",
        "opencode",
        "policy",
        "retention",
        "search",
        "send",
        "transports",
        "views",
        "wake",
    }
    assert {name: value for name, value in asdict(config).items() if name not in tables} == {
        "store": "haak:data",
        "user": "petra",
        "theme": "timetable",
        "editor": "nano -w",
        "poll": True,
        "observe": True,
        "stale_after_minutes": 5.0,
        "bell": False,
        "keymap": {"help": "f9"},
    }


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("theme = 7", "theme"),
        ('poll = "yes"', "poll"),
        ("stale_after_minutes = 0", "stale_after_minutes"),
        ('stale_after_minutes = "soon"', "stale_after_minutes"),
        ("stale_after_minutes = nan", "stale_after_minutes"),
        ('user = ""', "user"),
        ('keymap = "x"', "keymap"),
        ("keymap = { help = 1 }", "keymap"),
        ("bell = 1", "bell"),
    ],
)
def test_a_wrong_value_is_told_and_its_default_is_used(line: str, key: str, tmp_path: Path) -> None:
    path = write(tmp_path, f'{line}\neditor = "ed"')
    config, problems = load_config(path)
    assert config == Config(editor="ed")
    assert len(problems) == 1
    assert str(path) in problems[0]
    assert key in problems[0]
    assert "\n" not in problems[0]


def test_an_unknown_setting_is_told_with_the_one_that_was_meant(tmp_path: Path) -> None:
    config, problems = load_config(write(tmp_path, 'them = "timetable"\ncolour = 1\npoll = true'))
    assert config == whole_config()(poll=True)
    assert 'did you mean "theme"?' in problems[0]
    assert '"colour"' in problems[1]


@pytest.mark.parametrize("text", ["theme = ", b"\xff\xfe", "a = 1\na = 2"])
def test_a_file_that_can_not_be_read_is_one_sentence(text: str | bytes, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    config, problems = load_config(path)
    assert config == Config()
    assert len(problems) == 1
    assert str(path) in problems[0]
    assert "using the defaults" in problems[0]


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    assert len(load_config(tmp_path / "config.toml").problems) == 1
