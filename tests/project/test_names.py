"""A name that a reader meets stands for one thing."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.project.import_graph import ROOT, modules

NOT_YET = {"Header", "Usual", "Words"}


def test_no_two_classes_have_one_name() -> None:
    found = defaultdict(list)
    for path in (*modules("console"), *modules("mailstore")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(ROOT)))
    assert not {name: places for name, places in found.items() if len(places) > 1 and name not in NOT_YET}
