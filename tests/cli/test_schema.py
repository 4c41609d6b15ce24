"""`signalbox schema`: every command that prints JSON says what, and prints nothing else."""

from __future__ import annotations

import json
import time
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest

from console.cli.described import described_commands
from console.cli.mirror import CHANGES
from console.cli.schemas import all_outputs, outputs_of, schema_of
from mailstore.mirroring.mirror_report import IdConflict, MirrorEnd, MirrorLoss, MirrorStatus
from tests.cli.conftest import ROOT, Run
from tests.mailboxes import MailFiles
from tests.schemas import faults_in


def test_every_command_with_json_has_a_schema_and_no_other() -> None:
    every = list(described_commands())
    printing = {it.name for it in every if any("--json" in option.option_strings for option in it.options)}
    assert {*printing, "export"} == set(all_outputs())
    for command in every:
        words = {word for output in outputs_of(command.name) for word in output.when if not word.startswith("-")}
        assert words <= {action.name for action in command.actions}, command.name


def test_every_schema_is_valid_and_every_field_is_described() -> None:
    for name, outputs in all_outputs().items():
        schema = schema_of(name, outputs)
        jsonschema.Draft202012Validator.check_schema(schema)
        for title, defined in schema.get("$defs", {}).items():
            assert defined["description"], title
            for field, said in defined.get("properties", {}).items():
                assert said.get("description"), f"{title}.{field}"


def test_a_field_that_may_be_null_says_what_null_means() -> None:
    found = 0
    for outputs in all_outputs().values():
        for defined in schema_of("history", outputs).get("$defs", {}).values():
            for field, said in defined.get("properties", {}).items():
                if {"type": "null"} in said.get("anyOf", ()):
                    found += 1
                    assert "null" in said["description"], f"{defined['title']}.{field}"
    assert found > 30


def test_a_command_prints_json_only_by_what_it_declares() -> None:
    printing = [path.stem for path in (ROOT / "console").rglob("*.py") if "JsonOutput(" in path.read_text("utf-8")]
    declared = {id(output) for outputs in all_outputs().values() for output in outputs}
    for path in sorted((ROOT / "console" / "cli").glob("*.py")):
        module = import_module(f"console.cli.{path.stem}")
        mine = [value for value in vars(module).values() if type(value).__name__ in ("JsonOutput", "JsonLines")]
        assert all(id(output) in declared for output in mine), path.name
    assert len(printing) > 30


def test_the_program_prints_its_schemas(run: Run) -> None:
    listed = run("schema").out.splitlines()
    assert {line.split()[0] for line in listed[1:]} == set(all_outputs())
    printed = run("schema", "watch").document
    assert printed == json.loads(json.dumps(schema_of("watch", outputs_of("watch"))))
    assert "Each line" in printed["description"]
    both, one = run("schema", "dead-letters").document, run("schema", "dead-letters", "redirect").document
    assert [part["title"] for part in both["anyOf"]] == [
        "signalbox dead-letters list --json",
        "signalbox dead-letters redirect|resend|acknowledge|undo --json",
    ]
    assert one["items"] == {"$ref": "#/$defs/SettledRow"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("histroy",), 'unknown command "histroy": did you mean history?'),
        (("open",), "open prints no JSON: signalbox schema lists the commands that print JSON"),
        (("history", "new"), '"new" is not an action of history: leave it out'),
        (("hook", "install"), '"install" is not an action of hook: use status'),
    ],
)
def test_what_has_no_schema_is_refused(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("schema", *words)
    assert (done.status, done.out, done.err) == (2, "", f"signalbox: {said}\n")


def test_an_output_with_another_field_or_without_one_is_noticed() -> None:
    row = {"name": "night-box", "is_dark": True, "is_chosen": False}
    assert not faults_in("themes", [row])
    assert faults_in("themes", [{**row, "colour": "red"}])
    assert faults_in("themes", [{"name": "night-box", "is_dark": True}])
    assert faults_in("themes", [{**row, "is_dark": "yes"}])


def test_fields_that_are_left_out_are_not_required_and_never_null() -> None:
    message = schema_of("history", outputs_of("history"))["$defs"]["MessageRow"]
    assert "thread" in message["required"]
    assert not {"tags", "places"} & set(message["required"])
    happening = schema_of("watch", outputs_of("watch"))["$defs"]["HappeningRow"]
    assert happening["required"] == ["event", "at"]
    assert happening["properties"]["since"]["type"] == "string"
    marked = schema_of("mark-read", outputs_of("mark-read"))["$defs"]["MarkedRow"]
    assert "acknowledged" not in marked["required"]


def test_the_schema_of_the_settings_accepts_the_settings_and_no_others(run: Run, tmp_path: Path) -> None:
    schema = run("config", "schema").document
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    assert "$ref" not in json.dumps(schema)
    settings = {
        "store": "haak:data",
        "keymap": {"search": "f3"},
        "views": {"mine": "to:user"},
        "send": {"undo_seconds": 5},
    }
    assert validator.is_valid(settings)
    account = {"agent": "ann@lab", "server": "https://relay.example", "secret_file": "token"}
    assert validator.is_valid({"transports": {"relay": [account]}})
    for wrong in ({"stor": "x"}, {"keymap": {"serch": "f3"}}, {"send": {"undo_seconds": -1}}, {"bell": "yes"}):
        assert not validator.is_valid(wrong), wrong


def test_a_mirror_prints_lines_of_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    end = MirrorEnd("haak:a", cut_off=12.5, reason="no such folder")
    lost = MirrorLoss("tags", "haak:b", 2, ("m1", "m2"), "ink", "")
    CHANGES.put(MirrorStatus((end, MirrorEnd("haak:b")), True, conflicts=[IdConflict("m", "a", "b")], losses=[lost]))
    line, rest = capsys.readouterr().out.split("\n", 1)
    assert not rest
    assert not faults_in("mirror", json.loads(line))
    assert faults_in("mirror", {**json.loads(line), "phase": "sleeping"})


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_an_export_follows_its_schema(run: Run, tmp_path: Path, form: str) -> None:
    mail = MailFiles(tmp_path / "mail", now=time.time())
    mail.message("first", "ann-00000001", "all", "A lamp.", ago=60)
    mail.message("second", "ann-00000001", "all", "Oil.", ago=30)
    done = run("export", "--view", "all", "--format", form, "--store", mail.url)  # the runner compares it
    found = [json.loads(line) for line in done.out.splitlines()] if form == "jsonl" else [done.document]
    assert len(found) == (2 if form == "jsonl" else 1)
    assert not any(faults_in("export", each) for each in found)
    assert all(faults_in("export", {**each, "more": 1}) for each in found)
