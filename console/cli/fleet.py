"""The traffic of what is exported, for the picture in a document."""

from __future__ import annotations

from collections.abc import Sequence

from console.cli.loading import Loaded
from console.export.fleet_svg import FleetFigures
from console.unread_mail import unread_count
from mailstore.overview.bars import bars_since
from mailstore.overview.counting import traffic_picture
from mailstore.overview.standing import FleetStanding, standing
from mailstore.records.message import Message
from mailstore.records.protocol import PERSON


def fleet_of(mail: Loaded, messages: Sequence[Message], *, is_whole: bool) -> FleetFigures | None:
    """Return the traffic of some messages, None if there is none.

    With `is_whole` they are the whole mailbox: then unread mail, open questions and hot spots belong to it, too.
    """
    times = [it.time for it in messages if it.timed]
    if not times:
        return None
    mailbox, now = mail.mailbox, mail.now
    start = min(min(times), now)
    picture = traffic_picture(mailbox, now, lambda first: bars_since(start, now), {it.id for it in messages})
    stands, unread = FleetStanding(), dict[str, int | None]()
    if is_whole:
        from console.config_file import load_config

        stands = standing(mailbox, now, load_config().config.attention.limits())
        known = [PERSON, *(agent.session_id for agent in mailbox.roster)]
        unread = {name: unread_count(mail.store, mailbox, name) for name in known}
    labels = {channel.tag: mailbox.label(channel.tag) for channel in mailbox.channels()}
    return FleetFigures(picture, stands, {**labels, PERSON: "the user"}, unread)
