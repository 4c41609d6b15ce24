"""`signalbox config`: find, check, edit and show the settings, all or one."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys

from console.cli.document import JsonOutput, put_schema
from console.cli.options import json_option
from console.cli.plain import put
from console.cli.progress import is_terminal
from console.cli.setup_output import SettingsFiles
from console.cli.terminal_io import warn
from console.errors import Refused, UsedWrongly
from console.opening import editor_command
from console.settings.config import config_file, config_folder, state_file, whole_config
from console.settings.config_check import settings_problems
from console.settings.config_file import load_config
from console.settings.config_schema import config_schema, settings_text
from console.settings.setting_values import SettingValue, set_value, setting, unset_value
from console.settings.toml_errors import in_toml
from mailstore.errors import reason_of
from mailstore.files.folder import may_exist

FILES = JsonOutput(SettingsFiles, "path")
PROBLEMS = JsonOutput(list[str], "check")
SETTINGS = JsonOutput(whole_config(), "show")
VALUE = JsonOutput(SettingValue, "get")
OUTPUTS = (FILES, PROBLEMS, SETTINGS, VALUE)

ACTIONS = {
    "path": "Print the path of the settings file",
    "check": "List problems in the settings",
    "edit": "Open the settings in the editor, then check them",
    "show": "Print all settings",
    "get": "Print one setting",
    "set": "Write one setting into the file",
    "unset": "Take one setting out of the file",
    "schema": "Print a JSON Schema of the settings file, for editors",
}
VALUES = {"get": 1, "set": 2, "unset": 1}
NEEDED = ("no setting", "the name of a setting", "the name of a setting and its value")
STATUSES = {1: "with check or edit: the settings have problems"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=ACTIONS,
        default="show",
        help="path: the file; check: list problems; edit: open the editor, then check; show: all settings (default); "
        "get, set, unset: one setting; schema: a JSON Schema of the file, for editors",
    )
    parser.add_argument("name", nargs="?", metavar="KEY", help="A setting, such as theme or attention.unread_minutes")
    parser.add_argument("value", nargs="?", metavar="VALUE", help="For set: what it becomes, as in the file")
    json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Do what was asked for; 1 if the settings have problems."""
    needed = VALUES.get(args.action, 0)
    if sum(each is not None for each in (args.name, args.value)) != needed:
        raise UsedWrongly(
            f"config {args.action} takes {NEEDED[needed]}", f"signalbox config {args.action} --help shows how", "E143"
        )
    if needed:
        return _one(args.action, args.name, args.value, args.json)
    if args.action == "path":
        return _path(args.json)
    if args.action == "show":
        return _show(args.json)
    if args.action == "edit":
        if args.json:
            raise UsedWrongly("config edit has no --json", "use config check --json afterwards", "E106")
        return _edit()
    if args.action == "schema":
        return _schema()
    return _check(args.json)


def _one(action: str, name: str, value: str, is_json: bool) -> int:
    if action == "get":
        setting_value = setting(name)
        if is_json:
            VALUE.put(setting_value)
        elif setting_value.value is not None:
            put(setting_value.value if isinstance(setting_value.value, str) else in_toml(setting_value.value))
        return 0
    if is_json:
        raise UsedWrongly(f"config {action} has no --json", "use config get --json afterwards", "E142")
    if action == "set":
        put(f"Set in {set_value(name, value)}")
    else:
        unset_value(name)
    if (variable := setting(name).source).startswith("$"):
        warn(f"{variable} goes first as long as it is set")
    return 0


def _path(is_json: bool) -> int:
    path = config_file()
    if is_json:
        FILES.put(SettingsFiles(str(path), str(config_folder() / "themes"), str(state_file())))
    else:
        put(str(path))
        if not may_exist(path):
            warn("the file doesn't exist yet: signalbox config edit creates it")
    return 0


def _show(is_json: bool) -> int:
    config, problems = load_config(model=whole_config())
    if is_json:
        SETTINGS.put(config)
    else:
        put(settings_text(config).rstrip("\n"))
    for problem in problems:
        warn(problem)
    return 0


def _check(is_json: bool) -> int:
    problems = settings_problems()
    if is_json:
        PROBLEMS.put(problems)
    elif problems:
        put("\n".join(problems))
    else:
        put("No problems in the settings")
    return 1 if problems else 0


def _schema() -> int:
    put_schema(config_schema())
    return 0


def _edit() -> int:
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise Refused("config edit needs a terminal", f"change {config_file()} in another way", "E146")
    _create_missing()
    while True:
        _run_editor()
        problems = settings_problems()
        put("\n".join(problems or ["No problems in the settings"]))
        if not problems:
            return 0
        print("Edit again? [Y/n] ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        if not answer or answer.strip().lower() in ("n", "no"):
            return 1


def _create_missing() -> None:
    """Create the file, with every setting commented out, if there is none."""
    path = config_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(settings_text(whole_config()()))
    except FileExistsError:
        return
    except OSError as error:
        raise Refused(f"{path} can't be created ({reason_of(error)})", "make its folder writable", "E148") from error


def _run_editor() -> None:
    command = editor_command(load_config().config.editor)
    try:
        done = subprocess.run([*shlex.split(command), os.fspath(config_file())], check=False)
    except (OSError, ValueError) as error:
        raise Refused(
            f"the editor {command!r} can't be started ({reason_of(error)})", "set $EDITOR to one that can", "E149"
        ) from error
    if done.returncode:
        raise Refused(
            f"the editor {command!r} failed with status {done.returncode}",
            "run it by hand to see why; the file is as it left it",
            "E147",
        )
