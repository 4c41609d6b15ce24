"""Small mailboxes of this kind, with something of everything, for the hostile tests."""

from __future__ import annotations

from tests.hostile.copied_samples import Make, copied

SAMPLES: dict[str, Make] = {
    "agent-mail": copied("agent-mail", "agent-mail"),
    "agent-mail-archive": copied("agent-mail", "agent-mail", "archive"),
}
