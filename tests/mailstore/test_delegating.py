"""What some kinds offer reaches through the stores that stand for others."""

from __future__ import annotations

from inspect import isfunction

import pytest

from mailstore.delegating import ReadOnly
from mailstore.several import SeveralStore
from mailstore.store import TEMPLATES, Store

OF_SINGLE_STORES = {"copy_files", "merge"}
"""What copies and mirrors ask, which are made of the stores themselves."""
ELSEWHERE: dict[type[Store], set[str]] = {
    ReadOnly: {
        "would_wake",
        "is_for_named",
        "check_draft",
        "capabilities_for",
        "send_waiting",
        "close",
    },  # nothing is sent by it
    SeveralStore: {"archive_file", "contents", "unsupported", "send_waiting", "close"},
}
CHECKS = {*TEMPLATES, *TEMPLATES.values(), "require"}


@pytest.mark.parametrize("store", [ReadOnly, SeveralStore])
def test_what_concerns_reading_is_passed_on(store: type[Store]) -> None:
    methods = {name for name, found in vars(Store).items() if isfunction(found) and not name.startswith("_")}
    kept = {name for name in methods - CHECKS - OF_SINGLE_STORES if getattr(store, name) is getattr(Store, name)}
    assert "attachments" in methods
    assert kept <= ELSEWHERE[store]
