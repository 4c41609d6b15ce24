"""A name that a reader meets stands for one thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from tests.project.import_graph import ROOT, modules

NOT_YET = {"Header", "Usual", "Words"}


def test_no_two_classes_have_one_name() -> None:
    found = defaultdict(list)
    for path in (*modules("console"), *modules("mailstore")):
        for name in re.findall(r"(?m)^class ([^\W_]\w*)", path.read_text(encoding="utf-8")):
            found[name].append(str(path.relative_to(ROOT)))
    assert not {name: places for name, places in found.items() if len(places) > 1 and name not in NOT_YET}


def test_only_packages_and_what_is_passed_on_have_a_list_of_public_names() -> None:
    for path in (*modules("console"), *modules("mailstore")):
        text = path.read_text(encoding="utf-8")
        if "__all__" not in text:
            continue
        tree = ast.parse(text)
        named = [it.value for it in tree.body if isinstance(it, ast.Assign) and ast.unparse(it.targets[0]) == "__all__"]
        imports = [it for it in ast.walk(tree) if isinstance(it, ast.ImportFrom)]
        imported = {alias.asname or alias.name for it in imports for alias in it.names}
        if named and path.name != "__init__.py":
            assert set(ast.literal_eval(named[0])) & imported, path
