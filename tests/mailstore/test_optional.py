"""What some kinds offer beyond the contract reaches through the stores that stand for others."""

from __future__ import annotations

import pytest

from mailstore import optional
from mailstore.read_only import ReadOnly
from mailstore.several import SeveralStore
from mailstore.store import Store

OF_SINGLE_STORES = {"CopiesFiles", "FieldsInText", "KnownFields", "Merges"}
"""What copies and mirrors ask, which are made of the stores themselves."""
ELSEWHERE = {ReadOnly: {"WakesByText"}, SeveralStore: {"ArchiveFiles"}}
"""What a draft would do, where none is sent; the archive's names, which the report has with their labels."""
PROTOCOLS = {
    name: [method for method in vars(protocol) if not method.startswith("_")]
    for name in optional.__all__
    if getattr(protocol := getattr(optional, name), "_is_protocol", False)
}


@pytest.mark.parametrize("store", [ReadOnly, SeveralStore])
def test_what_concerns_reading_is_passed_on(store: type[Store]) -> None:
    assert "MessageAttachments" in PROTOCOLS
    for name, methods in PROTOCOLS.items():
        if name not in OF_SINGLE_STORES | ELSEWHERE[store]:
            assert [method for method in methods if not hasattr(store, method)] == [], name
