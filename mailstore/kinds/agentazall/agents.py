"""The agents: folders of a mailbox, and remote agents that appear in its mail."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path

from mailstore.files.stamp import path_stamp
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.names import USER, is_remote, name_of
from mailstore.kinds.agentazall.tree import TASKS, AgentFolders
from mailstore.kit.bodies import first_line
from mailstore.records.roster import Agent

TASKS_BYTES = 1 << 20
LAST_DAYS = 30
"""Number of an agent's days that are searched for its activity."""


def tasks_of(tree: AgentFolders) -> dict[str, tuple[str, Hashable]]:
    """Return for each agent the newest activity file that isn't empty, with its stamp."""
    found: dict[str, tuple[str, Hashable]] = {}
    for agent in tree.agents:
        found[agent] = ("", None)
        for day in tree.days(agent)[:LAST_DAYS]:
            name = f"{agent}/{day}/{TASKS}/tasks.txt"
            stamp = path_stamp(tree.root / name)
            if stamp is not None and stamp.size and not (tree.root / name).parent.is_symlink():
                found[agent] = (name, stamp)
                break
    return found


def agents_of(root: Path, tasks: dict[str, tuple[str, Hashable]], told_of: Iterable[str]) -> list[Agent]:
    """Return the agents with a folder, and those without that are senders or to whom letters are carried."""
    here: dict[str, str] = {}
    for folder, (file, _) in tasks.items():
        # of several trees, the one with the newest activity counts
        here.setdefault(name_of(folder.rpartition("/")[2]), file)
    for folder, (file, _) in tasks.items():
        name = name_of(folder.rpartition("/")[2])
        if file.split("/")[-3:] > here[name].split("/")[-3:]:
            here[name] = file
    here.pop(USER, None)
    found = [Agent(name, activity=_activity(root / file) if file else "") for name, file in sorted(here.items())]
    return found + [Agent(name) for name in sorted(set(told_of) - set(here) - {USER})]


def is_told_of(name: str, *, is_sender: bool) -> bool:
    """Return whether a name in the mail is an agent: every sender and every remote address is."""
    return is_sender or is_remote(name)


def _activity(path: Path) -> str:
    try:
        return first_line(read_whole(path, TASKS_BYTES).decode("utf-8", "replace"))
    except (OSError, NotAFile):
        return ""
