"""Which kinds of store there are, and which mailbox a URL or a path names."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from mailstore import installed_kinds
from mailstore.errors import MailboxMissing, StoreError, UnknownStore
from mailstore.haak import HaakStore
from mailstore.installed_kinds import GROUP
from mailstore.memory import MemoryStore
from mailstore.registry import discover, kinds, open_store, store_class
from mailstore.store import Store
from tests.mailboxes import MailFiles

BROKEN = "tests.mailstore.test_registry:NOT_A_STORE"
NOT_A_STORE = dict


class Half(Store):
    kind = "half"

    @property
    def url(self) -> str:
        return "half:x"


class FromElsewhere(MemoryStore):
    kind = "elsewhere"


def offered(monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    """Let other packages offer kinds of store, as a process finds them that is started now."""
    all_points = [EntryPoint(name, value, GROUP) for name, value in points.items()]

    def entry_points(*, group: str) -> Iterator[EntryPoint]:
        assert group == GROUP
        return iter(all_points)

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    monkeypatch.setattr(installed_kinds, "_found", None)
    monkeypatch.setattr(installed_kinds, "_file", lambda: "/dev/null/none")


def test_our_kinds_come_first() -> None:
    assert kinds()[:2] == ["haak", "memory"]


def test_another_package_can_add_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, elsewhere="tests.mailstore.test_registry:FromElsewhere")
    assert kinds()[-1] == "elsewhere"
    assert store_class("elsewhere").kind == "elsewhere"
    assert isinstance(open_store("elsewhere:place"), MemoryStore)


def test_another_package_can_not_take_the_place_of_our_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, haak="tests.mailstore.test_registry:FromElsewhere")
    assert kinds().count("haak") == 1
    assert store_class("haak") is HaakStore


def test_a_kind_that_is_no_store_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, odd=BROKEN)
    with pytest.raises(UnknownStore, match='the kind "odd" is not a store class'):
        store_class("odd")


@pytest.mark.parametrize("value", ["nowhere.to.be.found:Store", "tests.mailstore.test_registry:Missing"])
def test_a_kind_that_can_not_be_loaded_hides_no_mailbox(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered(monkeypatch, ours=value)
    with pytest.raises(UnknownStore, match='the kind "ours" can\'t be loaded'):
        store_class("ours")
    with pytest.raises(UnknownStore, match=r"no known kind of mailbox at .*\"ours\" can't be loaded"):
        open_store(tmp_path)
    MailFiles(tmp_path)
    assert isinstance(open_store(tmp_path), HaakStore)


def test_a_package_that_fails_when_it_is_imported_hides_no_mailbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing_package.py").write_text("raise ValueError('half written')\n")
    monkeypatch.syspath_prepend(tmp_path)
    offered(monkeypatch, ours="failing_package:Store", other="tests.mailstore.test_registry:FromElsewhere")
    with pytest.raises(UnknownStore, match="half written"):
        store_class("ours")
    assert store_class("other") is FromElsewhere
    MailFiles(tmp_path)
    assert isinstance(open_store(tmp_path), HaakStore)


def test_a_kind_that_implements_half_of_the_contract_is_told_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, half="tests.mailstore.test_registry:Half")
    with pytest.raises(UnknownStore, match="does not implement changes, content, open, raw, scan, title"):
        store_class("half")


def test_an_unknown_kind_is_told_with_the_nearest_that_there_is() -> None:
    with pytest.raises(UnknownStore, match="did you mean haak"):
        store_class("hak")
    with pytest.raises(UnknownStore, match="use haak, memory"):
        store_class("zzzzzz")


@pytest.mark.parametrize("place", ["", "data", "data/agent-mailbox.jsonl"])
@pytest.mark.parametrize("prefix", ["", "haak:"])
def test_a_mailbox_is_found_by_its_file_its_folder_or_the_folder_above(tmp_path: Path, prefix: str, place: str) -> None:
    mail = MailFiles(tmp_path)
    with open_store(f"{prefix}{tmp_path / place}") as store:
        assert store.url == f"haak:{mail.mailbox}"


def test_a_path_may_be_given_as_a_path(tmp_path: Path) -> None:
    MailFiles(tmp_path)
    assert isinstance(open_store(tmp_path), HaakStore)


def test_a_relative_path_is_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = MailFiles(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert open_store("haak:data").url == f"haak:{mail.mailbox}"


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    mail = MailFiles(tmp_path)
    assert open_store("~/data").url == open_store("haak:~/data").url == f"haak:{mail.mailbox}"


def test_a_folder_whose_name_looks_like_a_url_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = MailFiles(tmp_path / "notes:old")
    monkeypatch.chdir(tmp_path)
    assert open_store("notes:old").url == f"haak:{mail.mailbox}"


def test_where_nothing_lies_the_mailbox_is_missing(tmp_path: Path) -> None:
    for url in (str(tmp_path / "none"), f"haak:{tmp_path / 'none'}", f"haak:{tmp_path}"):
        with pytest.raises(MailboxMissing, match="signalbox init"):
            open_store(url)


def test_a_path_that_no_kind_recognises_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no mail")
    for place in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(UnknownStore, match="name its kind"):
            open_store(place)


@pytest.mark.parametrize(
    "text",
    ["x" * 5000, "haak:" + "x" * 5000, "a\0b", "haak:a\0b", "~nobody-of-that-name/x"],
    ids=["too long", "too long a url", "with a NUL", "a url with a NUL", "nobody's home"],
)
def test_a_path_that_can_not_be_one_is_a_store_error(text: str) -> None:
    with pytest.raises(StoreError):
        open_store(text)


def test_the_first_mailbox_upward_is_discovered(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    deep = tmp_path / "src" / "deep"
    deep.mkdir(parents=True)
    assert discover(deep) == discover(tmp_path) == f"haak:{mail.mailbox}"
    inner = MailFiles(tmp_path / "src")
    assert discover(deep) == f"haak:{inner.mailbox}"


def test_where_none_is_discovered_it_says_where_it_looked_and_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(MailboxMissing) as caught:
        discover(tmp_path)
    assert str(tmp_path) in caught.value.problem
    assert "signalbox demo" in caught.value.remedy
