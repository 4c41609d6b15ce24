"""What is compared: the same questions, answered by the oracle and by the program, as plain values."""

from __future__ import annotations

import math
from typing import Any

from mailstore.queries.questions import open_questions
from mailstore.rules.presence import presence_of
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View
from tests.oracle.people import PERSON, is_person
from tests.oracle.records import Box
from tests.oracle.rules import Oracle
from tests.oracle.threads import forest, participants

Answers = dict[str, Any]


def rounded(time: float | None) -> float | None:
    return None if time is None else round(time, 2)


def expected(box: Box, now: float, *, is_past: bool = False) -> Answers:
    """Answer from the page."""
    oracle = Oracle(box, now, is_past=is_past)
    letters, people = oracle.messages, oracle.people
    woods = forest(letters)
    dead = oracle.dead_letters()
    live = {name for name, mail_item in letters.items() if not mail_item.is_archived}
    root_of = {name: root for root, names in woods.threads.items() for name in names}

    def roots(names: Any) -> list[str]:
        return sorted({root_of[name] for name in names})

    told: Answers = {
        f"state {name} {key}": state for name, keys in oracle.states.items() for key, state in keys.items()
    }
    told |= {f"dead {one.message_id} {one.recipient}": (one.state, rounded(one.since)) for one in dead}
    for name in [*people.lines, PERSON]:
        told[f"inbox {name}"] = oracle.inbox(name)
        told[f"unread {name}"] = oracle.unread(name)
    for session in people.lines:
        told[f"status {session}"] = people.now(session).status
        state, since = people.doing(session)
        told[f"doing {session}"] = (state, None if since is None or since > now else rounded(since))
    for role in sorted({key for _, key in oracle.having("waiting")}):
        told[f"waiting {role}"] = [
            mail_item.id for mail_item in oracle.in_order() if (mail_item.id, role) in oracle.having("waiting")
        ]
    for root, names in woods.threads.items():
        there = [letters[name] for name in names if name in letters]
        newest = max(there, key=lambda mail_item: (mail_item.time, mail_item.place, mail_item.id))
        top = letters.get(root) or min(there, key=lambda mail_item: (mail_item.time, mail_item.place, mail_item.id))
        told[f"thread {root}"] = names
        told[f"summary {root}"] = (top.subject, participants(there, people), len(there), newest.stamp)
    told["view all"] = sorted(woods.threads)
    told["view for-you"] = roots(oracle.for_you())
    told["view dead"] = roots(one.message_id for one in dead)
    told["view waiting"] = roots(name for name, _ in oracle.having("waiting"))
    told["view archive"] = roots(set(letters) - live)
    told["questions"] = oracle.questions(woods.threads)
    told["rings"] = sorted(woods.rings)
    told["missing"] = woods.missing
    if not is_past:
        told["duplicates"] = sorted(box.duplicates)
        told["unreadable"] = sorted(set(box.unreadable))
    tags = {
        tag for mail_item in letters.values() for tag in mail_item.recipients if people.meaning(tag)[0] == "channel"
    }
    tags |= {tag for session in people.lines for tag in people.now(session).tags if people.meaning(tag)[0] == "channel"}
    for tag in tags:
        bearers = [session for session in people.lines if tag in people.now(session).tags]
        told[f"channel {tag}"] = (sum(tag in mail_item.recipients for mail_item in letters.values()), sorted(bearers))
    told["counts"] = {
        "messages": len(live),
        "archived": len(letters) - len(live),
        "dead": len(dead),
        "waiting": len(oracle.having("waiting")),
        "expired": len(oracle.out_of_time()),
        "unseen": sum(not is_person(letters[name].sender) for name in live),
        "for_you": len(live.intersection(oracle.for_you())),
    }
    return told


def found(mailbox: Mailbox, now: float, *, is_past: bool = False) -> Answers:
    """Ask the program."""
    mailbox.advance(now)
    messages = mailbox.messages()
    told: Answers = {}
    for message in messages:
        full = mailbox.states(message, now)
        for name, state in mailbox.bare_states(message, now).items():
            told[f"state {message.id} {name}"] = state.value
            if full[name].state is not state:
                told[f"states {message.id} {name}"] = (full[name].state.value, state.value)
    for mail_item in mailbox.dead_letters(now):
        told[f"dead {mail_item.message.id} {mail_item.recipient}"] = (mail_item.state.value, rounded(mail_item.since))
    for name in [*(agent.session_id for agent in mailbox.roster), PERSON]:
        told[f"inbox {name}"] = [message.id for message in mailbox.inbox(name, now)]
        told[f"unread {name}"] = [message.id for message in mailbox.unread(name, now)]
        if mailbox.unread_count(name) != len(mailbox.unread(name, now)):
            told[f"unread count {name}"] = mailbox.unread_count(name)
    for agent in mailbox.roster:
        told[f"status {agent.session_id}"] = agent.status.value
        shown = presence_of(agent, now, math.inf, mailbox.roster.active_since(agent.session_id))
        told[f"doing {agent.session_id}"] = (shown.state, rounded(shown.since))
    for role, mail in mailbox.waiting():
        told[f"waiting {role}"] = [message.id for message in mail]
    roots = sorted(mailbox.threads(View("all")))
    for root in roots:
        told[f"thread {root}"] = [node.id for node in mailbox.tree(root)]
        one = mailbox.summary(root)
        told[f"summary {root}"] = (one.subject, list(one.participants), one.messages, one.last_timestamp)
    told["view all"] = roots
    for kind in ("for-you", "dead", "waiting", "archive"):
        told[f"view {kind}"] = sorted(mailbox.threads(View(kind)))  # type: ignore[arg-type]
    told["questions"] = sorted(one.message.id for one in open_questions(mailbox, now))
    told["rings"] = sorted((sorted(ring.members), ring.cut) for ring in mailbox.cycles())
    told["missing"] = sorted(mailbox.orphans())
    if not is_past:
        told["duplicates"] = sorted(message.id for message in mailbox.duplicates)
        told["unreadable"] = sorted({(problem.file, problem.line) for problem in mailbox.problems if problem.fatal})
    for channel in mailbox.channels():
        told[f"channel {channel.tag}"] = (channel.messages, sorted(channel.agents))
    counts = mailbox.counts()
    told["counts"] = {
        name: getattr(counts, name)
        for name in ("messages", "archived", "dead", "waiting", "expired", "unseen", "for_you")
    }
    return told
