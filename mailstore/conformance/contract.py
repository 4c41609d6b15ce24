"""The whole suite as one class."""

from __future__ import annotations

from mailstore.conformance.adopting import AdoptingContract
from mailstore.conformance.archiving import ArchivingContract
from mailstore.conformance.changing import ChangingContract
from mailstore.conformance.histories import HistoryContract
from mailstore.conformance.opening import OpeningContract
from mailstore.conformance.reading import ReadingContract
from mailstore.conformance.writing import WritingContract


class StoreContract(
    OpeningContract,
    ReadingContract,
    ChangingContract,
    HistoryContract,
    WritingContract,
    ArchivingContract,
    AdoptingContract,
):
    """Subclass it as `Test…` with a fixture `harness`; every test is one rule of the contract."""
