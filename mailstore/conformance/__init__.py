"""The test suite that every kind of store must pass: one test for each rule of `mailstore/store.py`.

    from mailstore.conformance import Feature, Harness, StoreContract

    class Mine(Harness):
        store = MyStore
        ...                                  # what other programs do to such a mailbox

    class TestMine(StoreContract):
        @pytest.fixture
        def harness(self, tmp_path):
            return Mine(tmp_path)

It needs pytest and nothing else. A kind on files subclasses `FileHarness`, any other `Harness`. Tests that need a
capability the kind lacks (`declared`), or a feature the harness lacks (`cannot`), are skipped with the reason.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    *(
        f"mailstore.conformance.{part}"
        for part in (
            "following",
            "histories",
            "opening",
            "reading",
            "changing",
            "writing",
            "archiving",
            "adopting",
            "contract",
        )
    )
)

from mailstore.conformance.contract import StoreContract  # noqa: E402 - asserts are rewritten before they are imported
from mailstore.conformance.following import Follower, following  # noqa: E402
from mailstore.conformance.harness import Feature, FileHarness, Harness  # noqa: E402

__all__ = ["Feature", "FileHarness", "Follower", "Harness", "StoreContract", "following"]
