"""Images of messages of MCP Agent Mail: in a row, in a front matter, or in an archive; no path leads elsewhere."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.following import of, scanned
from mailstore.errors import ContentGone
from mailstore.kinds.agent_mail.store import AgentMailStore
from mailstore.records.message import Message
from tests.kinds.agent_mail.servers import Server

IMAGE, OTHER = b"RIFF....WEBP", b"RIFF another WEBP"
SHA = "0123456789abcdef0123456789abcdef01234567"
PATH = f"attachments/01/{SHA}.webp"
FACTS = {"media_type": "image/webp", "width": 1, "height": 1, "sha1": SHA}
INLINE = {"type": "inline", "bytes": len(IMAGE), "data_base64": b64encode(IMAGE).decode(), **FACTS}
BESIDE = {"type": "file", "bytes": len(OTHER), "path": PATH, **FACTS}
Kept = tuple[AgentMailStore, Message]


@contextmanager
def in_database(root: Path, images: object) -> Iterator[Kept]:
    server = Server(root / "storage.sqlite3")
    server.make()
    server.message("Ann", ["Bob"], attachments=images if isinstance(images, str) else json.dumps(images))
    server.close()
    with AgentMailStore.open(root) as store:
        [message] = of(Message, scanned(store))
        yield store, message


@contextmanager
def in_archive(root: Path, images: object) -> Iterator[Kept]:
    folder = root / "archive" / "projects" / "backend" / "messages" / "2026" / "03"
    folder.mkdir(parents=True)
    head = {"id": 1, "from": "Ann", "to": ["Bob"], "created": "2026-03-16T12:00:00+00:00", "attachments": images}
    (folder / "2026-03-16T12-00-00Z__s__1.md").write_text(f"---json\n{json.dumps(head)}\n---\n\nSee.\n")
    with AgentMailStore.open(root) as store:
        [message] = of(Message, scanned(store))
        yield store, message


Keep = Callable[[Path, Any], Any]


@pytest.fixture(params=[in_database, in_archive])
def keep(request: pytest.FixtureRequest) -> Keep:
    keep: Keep = request.param
    return keep


def put(root: Path, data: bytes = OTHER) -> Path:
    path = root / "archive" / "projects" / "backend" / PATH
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def test_images_in_the_record_and_in_the_archive_are_listed_and_opened(keep: Keep, tmp_path: Path) -> None:
    put(tmp_path)
    with keep(tmp_path, [INLINE, BESIDE]) as (store, message):
        names = [f"{SHA[:12]}.webp", f"{SHA}.webp"]
        assert [tag for tag in message.tags if "attach" in tag] == [f"attachment:{name}" for name in names]
        files = store.attachments(message)
        assert [(it.name, it.size, it.problem) for it in files] == [(names[0], 12, ""), (names[1], 17, "")]
        for name, data in zip(names, (IMAGE, OTHER), strict=True):
            with store.open_attachment(message, name) as file:
                assert file.read() == data


def test_images_of_one_name_have_one_each(keep: Keep, tmp_path: Path) -> None:
    with keep(tmp_path, [INLINE, INLINE]) as (store, message):
        assert [it.name for it in store.attachments(message)] == [f"{SHA[:12]}.webp", f"2-{SHA[:12]}.webp"]


def test_without_an_archive_beside_the_database_it_is_said_where_an_image_is(tmp_path: Path) -> None:
    with in_database(tmp_path, [BESIDE]) as (store, message):
        [file] = store.attachments(message)
        assert file.size is None
        assert "in the server's archive" in file.problem
        with pytest.raises(ContentGone, match="in the server's archive"):
            store.open_attachment(message, file.name)


@pytest.mark.parametrize(
    "path", ["../../../secret", "/etc/hostname", "attachments/../../x", "folder", "link", "a/b", ".."]
)
def test_no_path_leads_elsewhere(path: str, keep: Keep, tmp_path: Path) -> None:
    put(tmp_path)
    project = tmp_path / "archive" / "projects" / "backend"
    (project.parent / "x").write_text("Nobody's.")
    (tmp_path / "archive" / "secret").write_text("Nobody's.")
    (project / "folder").mkdir()
    (project / "link").symlink_to(project.parent / "x")
    (project / "a").symlink_to(project.parent)
    (project.parent / "b").write_text("Nobody's.")
    with keep(tmp_path, [{"type": "file", "path": path}]) as (store, message):
        [file] = store.attachments(message)
        assert file.size is None
        assert file.problem
        with pytest.raises(ContentGone):
            store.open_attachment(message, file.name)


@pytest.mark.parametrize(
    "images", [None, [], {}, 3, "x", [None], [[]], [{"data_base64": "%"}], [{"path": 3}], [{}] * 200]
)
def test_what_no_server_writes_is_no_error(images: object, keep: Keep, tmp_path: Path) -> None:
    with keep(tmp_path, images) as (store, message):
        files = store.attachments(message)
        assert len(files) == min(len(images) if isinstance(images, list) else 0, 100)
        assert all(file.problem for file in files)
        with pytest.raises(ContentGone, match="this name is not a file"):
            store.open_attachment(message, "other")


@pytest.mark.parametrize("text", ["[", "", "[" * 100_000, "[" * 100_000 + "]" * 100_000, "\ud800", "null"])
def test_a_column_that_is_no_list_is_none(text: str, tmp_path: Path) -> None:
    with in_database(tmp_path, text.encode("utf-8", "replace").decode()) as (store, message):
        assert store.attachments(message) == []


def test_a_message_that_is_gone_has_no_files(tmp_path: Path) -> None:
    with in_database(tmp_path, [INLINE]) as (store, message):
        server = Server(tmp_path / "storage.sqlite3")
        server.do("DELETE FROM messages", ())
        server.close()
        assert store.attachments(message) == []
        with pytest.raises(ContentGone, match="no longer in"):
            store.open_attachment(message, f"{SHA[:12]}.webp")
