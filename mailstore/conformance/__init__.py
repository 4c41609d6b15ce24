"""The suite that every kind of store must pass: one test for each sentence of `mailstore/store.py`.

    from mailstore.conformance import Feature, Harness, StoreContract

    class Mine(Harness):
        store = MyStore
        ...                                  # what another program does to such a mailbox

    class TestMine(StoreContract):
        @pytest.fixture
        def harness(self, tmp_path):
            return Mine(tmp_path)

Needs pytest and nothing else. What a kind can't do it says by `capabilities`, and what its harness can't by
`Harness.cannot`; the tests that need it are skipped and say why.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    *(
        f"mailstore.conformance.{part}"
        for part in ("following", "opening", "reading", "changing", "writing", "archiving", "adopting", "contract")
    )
)

from mailstore.conformance.contract import StoreContract  # noqa: E402 - asserts are rewritten before they are imported
from mailstore.conformance.following import Follower, following  # noqa: E402
from mailstore.conformance.harness import Feature, FileHarness, Harness  # noqa: E402

__all__ = ["Feature", "FileHarness", "Follower", "Harness", "StoreContract", "following"]
