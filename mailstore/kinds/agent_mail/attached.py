"""The images that a message has: in its row or front matter, or in its project's archive.

What the server writes is on docs/formats/agent-mail.md#attachments.
"""

from __future__ import annotations

import io
import os
from base64 import b64decode
from collections.abc import Sequence
from mimetypes import guess_extension
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from mailstore.errors import ContentGone, reason_of
from mailstore.files.salvage import loads
from mailstore.files.whole import open_below, open_regular
from mailstore.kit.tables import text_of
from mailstore.records.details import AttachedFile

MOST = 100
NO_ARCHIVE = "in the server's archive, which is not beside its database"
INVALID = "its bytes are invalid base64"
UNKNOWN = "neither its bytes nor its path are given"


class AttachedImage(NamedTuple):
    """One of a message's images: its bytes in base64, or where it is in its project's archive."""

    name: str
    data: str = ""
    path: str = ""


def listed(value: Any) -> list[AttachedImage]:
    """Return the images that a column's JSON or a front matter lists, the first hundred, each by a name of its own."""
    if isinstance(value, (str, bytes)):
        try:
            value = loads(value.encode() if isinstance(value, str) else value) if len(value) > len("[]") else None
        except (ValueError, RecursionError):
            return []
    images: dict[str, AttachedImage] = {}
    for number, each in enumerate(value[:MOST] if isinstance(value, list) else (), 1):
        facts = each if isinstance(each, dict) else {}
        path, data = text_of(facts.get("path")), text_of(facts.get("data_base64"))
        suffix = guess_extension(text_of(facts.get("media_type"))) or ".webp"
        name = path.rpartition("/")[2] or f"{text_of(facts.get('sha1'))[:12] or f'image-{number}'}{suffix}"
        name = f"{number}-{name}" if name in images else name
        images[name] = AttachedImage(name, data, path)
    return [*images.values()]


def attached_files(images: Sequence[AttachedImage], project: Path | None) -> list[AttachedFile]:
    """Return images as files with their sizes; `project` is the project's folder in the archive, None if unknown."""
    return [_described(image, project) for image in images]


def open_attached(images: Sequence[AttachedImage], project: Path | None, name: str) -> BinaryIO:
    """Open an image for reading; no link is followed, and nothing outside the project's folder. Raises ContentGone."""
    for image in images:
        if image.name == name:
            try:
                return _opened(image, project)
            except (OSError, ValueError) as error:
                problem = f"the attached file can't be read ({reason_of(error)})"
                raise ContentGone(problem, "look at the message's record") from error
    raise ContentGone("this name is not a file's", "look at the message's record", "E334")


def _described(image: AttachedImage, project: Path | None) -> AttachedFile:
    try:
        with _opened(image, project) as file:
            return AttachedFile(image.name, file.seek(0, os.SEEK_END))
    except (OSError, ValueError) as error:
        return AttachedFile(image.name, None, reason_of(error))


def _opened(image: AttachedImage, project: Path | None) -> BinaryIO:
    """Open an image. Raises OSError and ValueError."""
    if image.data:
        try:
            return io.BytesIO(b64decode(image.data, validate=True))
        except ValueError as error:
            raise ValueError(INVALID) from error
    *folders, name = image.path.split("/")
    if not name:
        raise ValueError(UNKNOWN)
    if project is None:
        raise ValueError(NO_ARCHIVE)
    folder = open_below(project, folders)
    try:
        fd = open_regular(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)
    os.set_blocking(fd, True)
    return os.fdopen(fd, "rb")
