"""What a mailbox knows of an agent besides its entry in the roster."""

from __future__ import annotations

import msgspec


class AgentFact(msgspec.Struct, frozen=True, gc=False):
    """One labelled text, perhaps of several lines; `source` names the file that it is from, within the mailbox.

    A warning is something that the user should mend or ask about.
    """

    name: str
    value: str
    source: str = ""
    is_warning: bool = False
