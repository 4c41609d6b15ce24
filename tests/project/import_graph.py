"""Which modules of the program import which, in whatever way they do it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

from console.commands.shell import COMMANDS

ROOT = Path(__file__).parents[2]

Graph = Mapping[str, frozenset[str]]
"""For each module, the modules that it names."""


def modules(package: str) -> list[Path]:
    """Return the files of a package."""
    return sorted((ROOT / package).rglob("*.py"))


def dotted(path: Path) -> str:
    """Return the dotted name of a module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def import_graph() -> Graph:
    """Return what each module imports: at its top, for the type checker, in a function, or by a name in a string."""
    paths = {dotted(path): path for package in ("console", "mailstore", "themes") for path in modules(package)}
    graph = {}
    for name, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {target for target in named_in_strings(tree, paths) if paths[target].stem != "__init__"}
        graph[name] = frozenset({*imported_in(tree, paths), *named} - {name})
    run_by_name = {f"console.cli.{command.module}" for command in COMMANDS.values()}
    return {**graph, "console.cli.dispatch": graph["console.cli.dispatch"] | run_by_name}


def imported_in(tree: ast.AST, known: Collection[str]) -> Iterator[str]:
    """Yield the modules among the known ones that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in known else node.module for name in names)


def named_in_strings(tree: ast.AST, known: Collection[str]) -> Iterator[str]:
    """Yield the modules among the known ones whose names a module holds, to import them later."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value and node.value in known:
            yield node.value


def circles(graph: Graph) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or through others."""
    below = {name: reached_from(name, graph) for name in graph}
    groups = {tuple(sorted(other for other in below[name] if name in below[other])) for name in graph}
    return [list(group) for group in sorted(groups) if group]


def reached_from(start: str, graph: Graph) -> set[str]:
    """Return all modules that a module imports, directly or through others."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += graph[name]
    return found
