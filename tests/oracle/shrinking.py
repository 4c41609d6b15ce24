"""The smallest mailbox that still shows a difference: lines and fields are left out while it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from tests.oracle.making import Made


def shrunk(made: Made, still: Callable[[Made], bool]) -> Made:
    """Leave out of a mailbox what a difference does not need."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for name in list(made.files):
            size = max(1, len(made.files[name]))
            while size:
                at = 0
                while at < len(made.files.get(name, [])):
                    lines = made.files[name]
                    fewer = {**made.files, name: lines[:at] + lines[at + size :]}
                    tried = replace(made, files={key: each for key, each in fewer.items() if each})
                    if still(tried):
                        made, is_smaller = tried, True
                    else:
                        at += size
                size //= 2
    return _with_fewer_fields(made, still)


def _with_fewer_fields(made: Made, still: Callable[[Made], bool]) -> Made:
    for name, lines in list(made.files.items()):
        for at in range(len(lines)):
            try:
                record = json.loads(lines[at])
            except ValueError:
                continue
            for key in list(record) if isinstance(record, dict) else []:
                fewer = {other: value for other, value in record.items() if other != key}
                new = [*made.files[name]]
                new[at] = json.dumps(fewer).encode()
                tried = replace(made, files={**made.files, name: new})
                if still(tried):
                    made, record = tried, fewer
    return made
