"""Read the files that go with a letter, before anything is said to a server."""

from __future__ import annotations

from mailstore.errors import reason_of
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.transports.transport import MOST_BYTES, LetterRefused, OutgoingLetter


def attached_files(letter: OutgoingLetter) -> tuple[tuple[str, bytes], ...]:
    """Return the names and bytes of a letter's attachments.

    Raises LetterRefused if one can't be read, or if letter and attachments are larger than MOST_BYTES.
    """
    found: list[tuple[str, bytes]] = []
    room = MOST_BYTES - len(letter.body.encode("utf-8", "replace"))
    for attachment in letter.attachments:
        try:
            data = read_whole(attachment.path, max(room, 0))
        except NotAFile as error:
            raise LetterRefused(f"attachment {attachment.name!r} can't be sent", str(error)) from error
        except OSError as error:
            raise LetterRefused(f"can't read attachment {attachment.name!r}", reason_of(error)) from error
        room -= len(data)
        found.append((attachment.name, data))
    if room < 0:
        raise LetterRefused(f"the letter is larger than {MOST_BYTES >> 20} MiB", "send less at once")
    return tuple(found)
