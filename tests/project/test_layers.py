"""The rooms of the house: who may import whom."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.project.import_graph import ROOT, circles, import_graph, modules

SCREEN = ("textual", "rich")

ORDER = [
    {"encoding", "errors", "installation", "steps"},
    {"files", "records"},
    {"columns", "installed_kinds", "location", "rules", "server_settings"},
    {"discovery", "quick_answers"},
    {"state"},
    {"bulk", "queries"},
    {"overview"},
    {"store"},
    {"kit"},
    {"haak_records"},
    {"delegating", "registry", "resumable"},
    {"haak", "memory", "several"},
    {"folding", "transfer", "writing"},
    {"mirroring"},
    {"own_commands"},
    {"conformance"},
    {"kinds"},
]
"""The rooms of the store layer, the lowest first: each imports only from itself and from those below."""

CONSOLE = [
    {"commands", "errors", "render", "running"},
    {"handout", "opening", "terminal", "widgets", "words"},
    {"export", "overview", "settings"},
    {"state"},
    {"browser", "hooks", "quiet"},
    {"concerns", "personal", "serve"},
    {"session"},
    {"notifications", "search", "sending"},
    {"panes"},
    {"screens"},
    {"feed"},
    {"preload"},
    {"app"},
    {"demo"},
    {"cli"},
    {"__main__"},
]
"""The rooms of the console likewise."""

SHARED_ROOM = {"mcp": "cli", "plain": "cli", "status": "cli", "completion": "cli"}
"""What the commands of the command line are made of, too."""


def imported(path: Path, *, top_level_only: bool = False) -> tuple[str, ...]:
    """Return what a module imports, leaving out what only the type checker sees."""
    return tuple(name for name, is_top_level in imports_in(path) if is_top_level or not top_level_only)


@cache
def imports_in(path: Path) -> list[tuple[str, bool]]:
    """Return what a module imports, and whether at its top level, leaving out what only the type checker sees."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top_level = set(tree.body)
    nodes = list(ast.walk(tree))
    checked_only = {
        inner
        for node in nodes
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    found = []
    for node in nodes:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        if node not in checked_only:
            found += [(name, node in top_level) for name in names]
    return found


def imports_of(paths: Iterable[Path], *, top_level_only: bool = False) -> list[tuple[str, str]]:
    """Return each module's path with each name that it imports."""
    found = [(str(path.relative_to(ROOT)), imported(path, top_level_only=top_level_only)) for path in paths]
    assert found
    return [(path, name) for path, names in found for name in names]


def is_within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_the_store_layer_knows_nothing_of_the_interface() -> None:
    found = imports_of(modules("mailstore"))
    assert not [each for each in found if is_within(each[1], (*SCREEN, "console", "themes"))]


def test_widgets_and_rendering_know_nothing_of_mail() -> None:
    allowed = ("console.render", "console.widgets")
    found = imports_of(modules("console/widgets") + modules("console/render"))
    own = [each for each in found if is_within(each[1], ("mailstore", "console"))]
    assert not [each for each in own if not is_within(each[1], allowed)]


def room_of(module: str) -> str:
    """Return the subpackage or module below the package that a module is in."""
    room = module.split(".")[1]
    return SHARED_ROOM.get(room, room)


@pytest.mark.parametrize(("package", "order"), [("mailstore", ORDER), ("console", CONSOLE)])
def test_imports_run_one_way(package: str, order: list[set[str]]) -> None:
    level = {room: at for at, rooms in enumerate(order) for room in rooms}
    wrong = []
    for name, targets in import_graph().items():
        if name == package or not is_within(name, (package,)):
            continue
        room = room_of(name)
        assert room in level, f"{room} has no place in the order"
        for target in targets:
            if not is_within(target, (package,)) or room_of(target) == room:
                continue
            if level[room_of(target)] >= level[room]:
                wrong.append(f"{name} imports {target}")
    assert not wrong


def test_the_root_of_the_console_holds_what_all_of_it_rests_on() -> None:
    assert len(list((ROOT / "console").glob("*.py"))) <= 12


def test_no_module_imports_itself_through_others() -> None:
    assert not circles(import_graph())


def test_kinds_of_store_know_nothing_of_each_other() -> None:
    for path in modules("mailstore/kinds"):
        own = ".".join(path.relative_to(ROOT).with_suffix("").parts[:3])
        others = [
            name for name in imported(path) if is_within(name, ("mailstore.kinds",)) and not is_within(name, (own,))
        ]
        assert not others, path


def test_nothing_but_a_kind_imports_a_kind() -> None:
    found = imports_of(modules("mailstore") + modules("console"))
    kinds = [(path, name) for path, name in found if is_within(name, ("mailstore.kinds",))]
    assert not [each for each in kinds if not each[0].startswith("mailstore/kinds/")]


OF_THEIR_OWN = {"channels", "mapped", "agent_mail"}
"""Names of kinds that are words of every mailbox, too."""


def test_nothing_but_a_kind_names_a_kind() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    kinds = {name for kind in project["entry-points"]["mailstore.stores"] for name in (kind, kind.replace("-", "_"))}
    names = "|".join(map(re.escape, sorted({*kinds, "mailstore.kinds"} - OF_THEIR_OWN)))
    own = ROOT / "mailstore" / "kinds"
    paths = [path for path in modules("mailstore") + modules("console") if own not in path.parents]
    assert len(paths) > 300
    lines = ((path, line) for path in paths for line in path.read_text("utf-8").splitlines())
    assert not [each for each in lines if re.search(rf"(?i)\b({names})\b", each[1])]


def test_mechanisms_for_files_know_nothing_of_mail() -> None:
    for path in modules("mailstore/files"):
        names = [name for name in imported(path) if name.startswith("mailstore")]
        assert all(is_within(name, ("mailstore.files", "mailstore.errors", "mailstore.encoding")) for name in names), (
            path
        )


def test_commands_import_the_screen_only_when_they_run() -> None:
    heavy = (*SCREEN, "console.app", "console.screens", "console.panes", "console.widgets", "pydantic")
    found = imports_of(modules("console/cli"), top_level_only=True)
    assert not [each for each in found if is_within(each[1], heavy)]


PRIVATE = {
    "console/terminal/driver.py": ("textual._parser", "textual._xterm_parser"),
    "console/widgets/compositor.py": ("textual._compositor",),
}
"""What a driver and a compositor are made of; where Textual has them no longer, its own are taken (decision 33)."""


def test_no_private_module_of_the_libraries_is_used() -> None:
    found = imports_of(modules("console") + modules("mailstore"))
    private = [each for each in found if "._" in each[1] and is_within(each[1], (*SCREEN, "pydantic", "msgspec"))]
    assert not [each for each in private if not is_within(each[1], PRIVATE.get(each[0], ()))]


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["stores", "--json"]])
def test_a_small_command_loads_neither_the_screen_nor_pydantic(words: list[str]) -> None:
    program = (
        "import sys; from console.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "heavy = {name.partition('.')[0] for name in sys.modules} & {'textual', 'rich', 'pydantic'}\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


RULES_OWN = {
    "Kind", "Status", "BROADCAST", "TAG", "DIRECT", "UNKNOWN", "LITERAL", "FROZEN", "DEAD",
    "DEFAULT_TTL_HOURS", "BROADCAST_TTL_HOURS", "DIRECT_TTL_HOURS", "TAG_NAMESPACES", "USER_NAMES",
}  # fmt: skip
"""What one needs to decide for whom a message is and what becomes of it: `mailstore/rules` alone does (decision 40)."""


@pytest.mark.parametrize("place", ["bulk/open_mail.py", "state/ledger.py", "columns/postings.py", "haak/quick"])
def test_whoever_asks_the_rules_does_not_restate_them(place: str) -> None:
    paths = [ROOT / "mailstore" / place] if place.endswith(".py") else modules(f"mailstore/{place}")
    assert paths
    for path in paths:
        names = {alias.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                 if isinstance(node, ast.ImportFrom) for alias in node.names}  # fmt: skip
        assert not names & RULES_OWN, path
