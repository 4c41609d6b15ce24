"""The rooms of the house: who may import whom."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCREEN = ("textual", "rich")

ORDER = [
    {"encoding", "errors", "steps"},
    {"files", "records"},
    {"capabilities", "columns", "location", "rules"},
    {"state"},
    {"bulk", "queries"},
    {"optional"},
    {"store"},
    {"kit"},
    {"read_only", "registry", "resumable"},
    {"stores"},
    {"archive", "folding", "transfer", "writing"},
    {"conformance"},
]
"""The rooms of the store layer, the lowest first: each imports only from itself and from those below."""


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported(path: Path, *, top_level_only: bool = False) -> Iterator[str]:
    """Yield what a module imports, leaving out what only the type checker sees."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    checked_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in tree.body if top_level_only else ast.walk(tree):
        if id(node) in checked_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def is_within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@pytest.mark.parametrize("path", modules("mailstore"), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_store_layer_knows_nothing_of_the_interface(path: Path) -> None:
    assert not [name for name in imported(path) if is_within(name, (*SCREEN, "console", "themes"))]


@pytest.mark.parametrize("path", modules("console/widgets") + modules("console/render"), ids=lambda path: path.name)
def test_widgets_and_rendering_know_nothing_of_mail(path: Path) -> None:
    allowed = ("console.render", "console.widgets")
    names = [name for name in imported(path) if is_within(name, ("mailstore", "console"))]
    assert not [name for name in names if not is_within(name, allowed)]


def test_inside_the_store_layer_imports_run_one_way() -> None:
    level = {name: at for at, names in enumerate(ORDER) for name in names}
    for path in modules("mailstore"):
        room = path.relative_to(ROOT / "mailstore").parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        assert room in level, f"{room} has no place in the order"
        for name in imported(path):
            other = name.removeprefix("mailstore.").partition(".")[0]
            if name.startswith("mailstore.") and other != room:
                assert level[other] < level[room], f"{path.relative_to(ROOT)} imports {name}"


def test_kinds_of_store_know_nothing_of_each_other() -> None:
    room = ROOT / "mailstore" / "stores"
    kinds = {path.name for path in room.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    for path in modules("mailstore/stores"):
        own = path.relative_to(room).parts[0]
        found = {name.split(".")[2] for name in imported(path) if name.startswith("mailstore.stores.")}
        assert not (found & kinds) - {own}, path


def test_mechanisms_for_files_know_nothing_of_mail() -> None:
    for path in modules("mailstore/files"):
        names = [name for name in imported(path) if name.startswith("mailstore")]
        assert all(is_within(name, ("mailstore.files", "mailstore.errors", "mailstore.encoding")) for name in names), (
            path
        )


@pytest.mark.parametrize("path", modules("console/cli"), ids=lambda path: path.name)
def test_commands_import_the_screen_only_when_they_run(path: Path) -> None:
    heavy = (*SCREEN, "console.app", "console.screens", "console.panes", "console.widgets", "pydantic")
    assert not [name for name in imported(path, top_level_only=True) if is_within(name, heavy)]


PARSERS = ("textual._parser", "textual._xterm_parser")
"""What a driver is made of; where Textual has them no longer, its own driver is taken (decision 33)."""


@pytest.mark.parametrize(
    "path", modules("console") + modules("mailstore"), ids=lambda path: str(path.relative_to(ROOT))
)
def test_no_private_module_of_the_libraries_is_used(path: Path) -> None:
    names = [name for name in imported(path) if is_within(name, (*SCREEN, "pydantic", "msgspec"))]
    allowed = PARSERS if path == ROOT / "console/driver.py" else ()
    assert not [name for name in names if "._" in name and not is_within(name, allowed)]


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
