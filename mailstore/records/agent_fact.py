"""What a mailbox knows of an agent besides its entry in the roster, and what the agent keeps there."""

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


class AgentNote(msgspec.Struct, frozen=True, gc=False):
    """A text that an agent keeps beside its mail, so that it is searched too.

    `kind` is what it is: memory, note, task, identity, or index, a list of the mail of a day. `day` is its day in ISO
    form, which begins at `time` in seconds since the epoch; `source` names its file within the mailbox.
    """

    agent: str
    kind: str
    title: str
    day: str
    time: float
    text: str
    source: str
