"""Settings of every shape: what is added parses to the old value plus ours, and goes again without a trace."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from console.errors import Refused
from console.hooks.calls import LIMITS
from console.hooks.install.hook_additions import Wanted, adding
from console.hooks.install.hook_entries import found, removing
from console.hooks.install.own_command import DELIVERIES, ENDS, HookOptions, hook_command, is_ours, options_of
from console.hooks.install.settings_tokens import COMMENTS, JSON, JSONC, parsed, value_of
from console.hooks.install.text_edits import edited, undo_of
from console.hooks.programs import NAMES

RUN = "/opt/py -I -S '/opt/sign al/console/hooks/entry.py' claude-code --store 'haak:/a \"b\"'"
OURS: dict[str, Any] = {"hooks": [{"type": "command", "command": RUN, "timeout": 10}]}
WANTED = Wanted({"SessionStart": OURS, "Stop": OURS}, ("Bash(signalbox check:*)", "Bash(ls)"))

COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)


def plain(text: str) -> Any:
    """Parse in another way than the program: by removing comments and trailing commas first."""
    for pattern in (COMMENT, TRAILING):
        text = pattern.sub(lambda match: match[1] or "", text)
    return json.loads(text.removeprefix("\ufeff"))


def with_ours(value: Any) -> Any:
    """Return what the settings must mean afterwards."""
    value = value or {}
    hooks = value.get("hooks") or {}
    permissions = value.get("permissions") or {}
    allowed = permissions.get("allow") or []
    return {
        **value,
        "hooks": {**hooks, **{event: [*(hooks.get(event) or []), OURS] for event in WANTED.entries}},
        "permissions": {**permissions, "allow": [*allowed, *(rule for rule in WANTED.rules if rule not in allowed)]},
    }


def pruned(value: Any) -> Any:
    """Return settings without what is empty where our entries may have been."""
    value = dict(value or {})
    hooks = {
        event: groups for event, groups in (value.get("hooks") or {}).items() if groups or event not in WANTED.entries
    }
    permissions = {key: rules for key, rules in (value.get("permissions") or {}).items() if rules or key != "allow"}
    rest = {key: part for key, part in value.items() if key not in ("hooks", "permissions")}
    return {**rest, **({"hooks": hooks} if hooks else {}), **({"permissions": permissions} if permissions else {})}


@st.composite
def gaps(draw: st.DrawFn, newline: str, *, is_strict: bool) -> str:
    parts = ["", " ", "\t", newline, f"{newline}  "]
    if not is_strict:
        parts += [f' // a "note" {{ [{newline}', "/* x, */", f"/* two{newline}lines */"]
    return "".join(draw(st.lists(st.sampled_from(parts), max_size=3)))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(["//", "/*", "a,}", "\\", '"'])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)
HOOKS = st.fixed_dictionaries(
    {"type": st.just("command"), "command": TEXTS.filter(lambda text: "signalbox" not in text)}
)
GROUPS = st.fixed_dictionaries({"hooks": st.lists(HOOKS, max_size=2)}, optional={"matcher": TEXTS}) | VALUES
EVENTS = st.sampled_from(["SessionStart", "Stop", "PreToolUse"])
SETTINGS = st.builds(
    lambda rest, more: {**rest, **more},
    st.dictionaries(TEXTS.filter(lambda text: text not in ("hooks", "permissions")), VALUES, max_size=3),
    st.fixed_dictionaries(
        {},
        optional={
            "hooks": st.none() | st.dictionaries(EVENTS, st.none() | st.lists(GROUPS, max_size=3), max_size=3),
            "permissions": st.none()
            | st.fixed_dictionaries(
                {}, optional={"allow": st.lists(st.just("Bash(ls)") | TEXTS, max_size=3), "deny": VALUES}
            ),
        },
    ),
)


@st.composite
def written(draw: st.DrawFn, value: Any, newline: str, *, is_strict: bool = False) -> str:
    """Write a value as JSON with gaps, comments and trailing commas anywhere."""
    gap = gaps(newline, is_strict=is_strict)

    def write(value: Any) -> str:
        if isinstance(value, dict):
            members = [f"{json.dumps(key)}{draw(gap)}:{draw(gap)}{write(each)}" for key, each in value.items()]
            return "{" + join(members) + "}"
        if isinstance(value, list):
            return "[" + join([write(each) for each in value]) + "]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    def join(members: list[str]) -> str:
        if not members:
            return draw(gap)
        inner = ",".join(f"{draw(gap)}{member}{draw(gap)}" for member in members)
        return inner + ("," + draw(gap) if not is_strict and draw(st.booleans()) else "")

    return draw(st.sampled_from(["", "\ufeff"])) + draw(gap) + write(value) + draw(gap)


@st.composite
def settings_texts(draw: st.DrawFn) -> str:
    value = draw(SETTINGS)
    if draw(st.booleans()):
        return json.dumps(value, indent=draw(st.sampled_from([None, 1, 2, 4, "\t", 0])), ensure_ascii=False)
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return draw(written(value, newline))


@example('{ // a note\n"hooks":null}')
@given(settings_texts())
def test_what_is_added_is_the_old_value_and_ours_and_goes_exactly(text: str) -> None:
    edits, rules = adding(text, WANTED, "settings.json")
    after = edited(text, edits)
    assert plain(after) == with_ours(plain(text))
    assert found(after, "settings.json") == [(event, OURS) for event in _order(plain(after))]
    assert adding(after, Wanted({}, WANTED.rules), "settings.json")[1] == []
    assert edited(after, undo_of(text, edits)) == text  # what `uninstall` does with a file that nobody changed since
    assert all(edit.start == edit.end or text[edit.start : edit.end] == "null" for edit in edits)
    taken = edited(after, removing(after, "settings.json", rules))
    assert pruned(plain(taken)) == pruned(plain(text))
    assert removing(taken, "settings.json", rules) == []


def _order(value: Any) -> list[str]:
    return [event for event in value["hooks"] if event in WANTED.entries]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '{"a":1}\n',
        '{\n  "a": 1\n}\n',
        '{\n  "a": 1, // why\n}\n',
        '{\n\t"a": 1 /* why */ // and so\n\t// "b": 2\n}\n',
        '\ufeff{\r\n    "a": [1, 2],\r\n    "hooks": {\r\n        "Stop": [{"hooks": []}]\r\n    }\r\n}\r\n',
        '{"hooks": {"Stop": [ {"hooks": [{"type": "command", "command": "date"}]} ]}, "permissions": {"allow": ["a"]}}',
        '{\n"a": 1\n}',
        '{ "hooks": {"PreToolUse": [1]}, // all\n "permissions": {"deny": []} }',
    ],
)
def test_without_a_note_the_text_is_the_same_again_where_something_else_is_in_it(text: str) -> None:
    edits, rules = adding(text, WANTED, "settings.json")
    after = edited(text, edits)
    assert ("\r\n" in text) == ("\r\n" in after)
    assert after.count("\n") == after.count("\r\n") or "\r\n" not in text
    assert edited(after, removing(after, "settings.json", rules)) == text


def test_added_lines_are_indented_as_the_others_are() -> None:
    text = '{\n\t"model": "a",\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": []}\n\t\t]\n\t}\n}\n'
    after = edited(text, adding(text, Wanted({"Stop": {"command": "x"}, "End": {"command": "y"}}), "")[0])
    assert after == (
        '{\n\t"model": "a",\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": []},\n'
        '\t\t\t{\n\t\t\t\t"command": "x"\n\t\t\t}\n'
        '\t\t],\n\t\t"End": [\n\t\t\t{\n\t\t\t\t"command": "y"\n\t\t\t}\n\t\t]\n\t}\n}\n'
    )


def test_of_two_members_with_one_name_programs_take_the_last_and_both_are_cleaned() -> None:
    text = '{"hooks": {"Stop": [1]}, "hooks": {"Stop": [2]}}'
    after = edited(text, adding(text, Wanted({"Stop": OURS}), "")[0])
    assert json.loads(after) == {"hooks": {"Stop": [2, OURS]}}
    assert after.startswith('{"hooks": {"Stop": [1]}, ')
    twice = after.replace("[1]", json.dumps([1, OURS]))
    assert edited(twice, removing(twice, "")) == text


def test_hooks_of_others_in_the_same_group_stay() -> None:
    theirs = {"type": "command", "command": "date"}
    group = {"matcher": "*", "hooks": [OURS["hooks"][0], theirs, OURS["hooks"][0]]}
    text = json.dumps({"hooks": {"Stop": [group], "End": [OURS]}}, indent=2)
    assert json.loads(edited(text, removing(text, ""))) == {"hooks": {"Stop": [{"matcher": "*", "hooks": [theirs]}]}}


@pytest.mark.parametrize(
    ("command", "event", "is_found"),
    [
        ("signalbox check --as ann-00000001", "SessionStart", True),
        ("signalbox check --as \"$SIGNALBOX_AGENT\" --store 'haak:/a b'", "SessionStart", True),
        ("/usr/bin/signalbox check --as x", "SessionStart", False),
        ("cd /x && signalbox check --as me | tee log", "SessionStart", False),
        ("signalbox check --as me --json", "SessionStart", False),
        ("signalbox check --as x", "Stop", False),
        ("signalbox hook run codex", "Stop", True),
        ("signalbox hook run copilot sessionStart --deliver letters --wake", "Stop", True),
        ("signalbox hook run codex --wake --deliver letters", "Stop", False),
        ("signalbox hook run codex; date", "Stop", False),
        ("signalbox hook run codex ", "Stop", False),
        ("signalbox hook run x", "Stop", False),
        ("my-signalbox hook run codex", "Stop", False),
        ("env A=b /opt/bin/signalbox --store x hook run codex", "Stop", False),
        ("echo signalbox; other hook run codex", "Stop", False),
        ("/py -I -S /a/console/hooks/entry.py", "Stop", False),
        ("/py -I -S /a/console/hooks/entry.py codex 2>&1", "Stop", False),
        ("'/a b/python' -I -S '/a b/console/hooks/entry.py' codex", "Stop", True),
        ("/py -I -S /a/console/hooks/entry.pyc codex", "Stop", False),
        ("my-signalbox-checker", "SessionStart", False),
    ],
)
def test_our_entries_are_known_by_their_commands(command: str, event: str, is_found: bool) -> None:
    text = json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}})
    assert bool(found(text, "")) == is_found


options = st.builds(
    HookOptions,
    store=st.sampled_from(["", "haak:/a", "haak:/it's a; date", "-x"]) | st.text("ab '\"$|&;#\\é", max_size=8),
    deliver=st.sampled_from(DELIVERIES),
    at_end=st.sampled_from(ENDS),
    wake=st.booleans(),
    shared=st.booleans(),
    limits=st.fixed_dictionaries({}, optional=dict.fromkeys(LIMITS, st.sampled_from([0.5, 10.0, 1e7]))),
)
signs = st.text("|&;<>()$`#*? \n")


@given(
    st.sampled_from(NAMES),
    options,
    st.sampled_from([(), ("StopBlock",), ("sessionStart",)]),
    signs | st.sampled_from(["cd /x && ", "my-", "env A=b "]),
    signs | st.sampled_from([" | tee log", " 2>&1", " # mine"]),
)
def test_only_a_whole_command_as_it_was_written_is_ours(
    tool: str, chosen: HookOptions, more: tuple[str, ...], before: str, after: str
) -> None:
    written = hook_command(tool, chosen, *more)
    assert is_ours(written, "Stop")
    assert options_of(written) == chosen
    assert is_ours(f"{before}{written}{after}", "Stop") == (not before and not after)
    theirs = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"{before}{written}|x"}]}]}})
    added = edited(theirs, adding(theirs, WANTED, "")[0])
    assert plain(edited(added, removing(added, "", WANTED.rules))) == json.loads(theirs)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "it ends too early in line 1, column 2"),
        ('{"a": 1}}', "text after the end in line 1, column 9"),
        ('{\n "a" 1}', "unexpected 1 in line 2, column 6"),
        ('{"a": tru}', "unexpected text in line 1, column 7"),
        ('{"a": "b}', "unexpected text in line 1, column 7"),
        ("{'a': 1}", "unexpected text in line 1, column 2"),
        ("[1,,2]", "unexpected , in line 1, column 4"),
        ('{"a": 1 /* }', "unexpected text in line 1, column 9"),
        ('{"a": 01}', "unexpected text"),
        ("[]", "is not a JSON object of settings"),
        ('{"hooks": []}', "hooks in settings.json is not an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop in settings.json is not a list"),
        ('{"permissions": 3}', "permissions in settings.json is not an object"),
        ('{"permissions": {"allow": "Bash"}}', "permissions.allow in settings.json is not a list"),
    ],
)
def test_what_is_no_settings_is_refused(text: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        adding(text, WANTED, "settings.json")
    assert said in refused.value.problem


@pytest.mark.parametrize(
    ("text", "dialects"),
    [
        ('{"a": 1}', [JSON, COMMENTS, JSONC]),
        ('{"a": 1} // b', [COMMENTS, JSONC]),
        ("{/**/}", [COMMENTS, JSONC]),
        ('{"a": 1,}', [JSONC]),
    ],
)
def test_what_each_program_reads_is_known(text: str, dialects: list[str]) -> None:
    def is_read(dialect: str) -> bool:
        try:
            return parsed(text, "settings.json", dialect) is not None
        except Refused:
            return False

    assert [dialect for dialect in (JSON, COMMENTS, JSONC) if is_read(dialect)] == dialects


@pytest.mark.parametrize(
    "text", ["", " \n", "null", "\ufeff", "// nothing yet\n", "\ufeffnull\r\n", "{}", "{ }", "{\n}"]
)
def test_settings_with_nothing_in_them_are_filled(text: str) -> None:
    edits, rules = adding(text, WANTED, "settings.json")
    after = edited(text, edits)
    assert plain(after) == with_ours(None)
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert edited(after, undo_of(text, edits)) == text
    assert not plain(edited(after, removing(after, "settings.json", rules)))


def test_deep_and_huge_settings_are_read_without_recursion() -> None:
    deep = "[" * 5_000 + "]" * 5_000
    text = f'{{"deep": {deep}, "hooks": {{"Stop": [{deep}]}}}}'
    after = edited(text, adding(text, WANTED, "settings.json")[0])
    root = parsed(after, "settings.json")
    assert root
    stop = root.last("hooks").last("Stop")  # type: ignore[union-attr]
    assert stop
    assert len(stop.members) == 2
    assert value_of(stop.members[1].value, after) == OURS
