"""Transcripts of sessions that send each other messages, written line by line as the program writes them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from mailstore.kit.timestamps import isoformat
from tests.mailboxes import NOW

PROJECT = "-srv-me-repo"


def session_id(name: str) -> str:
    """Return the id that the session of a name has in tests."""
    number = int.from_bytes(name.encode()[:4].ljust(4, b"x"), "big")
    return f"{number:08x}-2222-4333-8444-{len(name):04x}{number:08x}"


class Home:
    """A folder `.claude` with the transcripts of some sessions, and the files of their processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.projects = folder / "projects"
        self.processes = folder / "sessions"
        self.processes.mkdir(parents=True)
        (self.projects / PROJECT).mkdir(parents=True)
        self._numbers = count(1)

    def path(self, session: str, agent: str = "") -> Path:
        """Return the transcript of a session by its name, or of one of its subagents."""
        name = session_id(session)
        below = f"{name}/subagents/agent-{agent}.jsonl" if agent else f"{name}.jsonl"
        return self.projects / PROJECT / below

    def write(self, session: str, *lines: Mapping[str, Any], agent: str = "") -> None:
        """Append lines to a transcript."""
        path = self.path(session, agent)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            for line in lines:
                file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")

    def line(self, kind: str, session: str, at: float, **fields: Any) -> dict[str, Any]:
        """Return a line of a kind at a time, in seconds from the clock of the tests."""
        base = {"type": kind, "uuid": f"uuid-{next(self._numbers)}", "timestamp": isoformat(NOW + at)}
        return {**base, **fields, "cwd": "/srv/me/repo", "sessionId": session_id(session), "version": "2.1.330"}

    def begin(self, session: str, at: float = -3600.0) -> None:
        """Begin a session's transcript."""
        named = {"type": "agent-name", "agentName": session, "sessionId": session_id(session)}
        typed = {"message": {"role": "user", "content": "hello"}, "origin": {"kind": "human"}, "turnOrigin": "human"}
        self.write(session, named, self.line("user", session, at, gitBranch="main", **typed))

    def runs(self, session: str, pid: int | None = None, at: float = -3600.0, **fields: Any) -> Path:
        """Write the file of a session's process: by default one that lives, this very one."""
        pid = pid or os.getpid()
        path = self.processes / f"{pid}.json"
        said = {
            "pid": pid,
            "sessionId": session_id(session),
            "cwd": "/srv/me/repo",
            "name": session,
            "kind": "interactive",
        }
        said |= {"startedAt": int((NOW + at) * 1000), "status": "idle", "updatedAt": int(NOW * 1000)}
        path.write_text(json.dumps({**said, **fields}))
        return path

    def send(self, sender: str, to: str, text: str, message_id: str = "", at: float = 0.0, **more: Any) -> None:
        """Write what a sender's transcript has of a message; without an id it was not sent."""
        tool = f"toolu_{next(self._numbers)}"
        agent = more.pop("agent", "")
        asked = {"to": to, "summary": more.pop("summary", ""), "message": text, "type": "message", "recipient": to}
        call = {"type": "tool_use", "id": tool, "name": "SendMessage", "input": asked}
        result = {"success": True, "message": f"sent to {to}", "msg_id": message_id}
        if not message_id:
            result = {"success": False, "message": f"No agent named '{to}' is reachable.\nUse ListAgents."}
        given = {"role": "user", "content": [{"tool_use_id": tool, "type": "tool_result", "content": "{}"}]}
        self.write(
            sender,
            self.line("assistant", sender, at, message={"role": "assistant", "content": [call]}, **more),
            self.line("user", sender, at + 0.1, message=given, toolUseResult=result, **more),
            agent=agent,
        )

    def arrive(self, session: str, sender: str, text: str, at: float = 0.2, pid: int = 77) -> None:
        """Write that a message is in a session's inbox."""
        tag = f'<cross-session-message from="uds:/run/cc-socks/{pid}.sock" from-name="{sender}" from-mode="prompting">'
        content = f"{tag}\n{text.replace('</cross', '<' + chr(92) + '/cross')}\n</cross-session-message>"
        self.write(session, self.queued(session, content, at))

    def queued(self, session: str, content: str, at: float) -> dict[str, Any]:
        """Return the line of a text that was put into a session's queue."""
        line = {"type": "queue-operation", "operation": "enqueue", "timestamp": isoformat(NOW + at)}
        return {**line, "sessionId": session_id(session), "content": content}

    def read(self, session: str, message_id: str, text: str, at: float = 0.3, **more: Any) -> None:
        """Write that a message was given to a session's model, in a turn of its own or while it worked."""
        sender, pid, is_busy = more.pop("sender", "alpha"), more.pop("pid", 77), more.pop("is_busy", False)
        origin = {"kind": "peer", "from": f"uds:/run/cc-socks/{pid}.sock", "verifiedPeerPid": pid, "msg_id": message_id}
        origin |= {"verifiedPeerProcStart": "5", "name": sender, "body": text, "verifiedLocal": True}
        content = f"Another Claude session sent a message:\n{text}\n\nThis came from another Claude session — not typed"
        if is_busy:
            attached = {"type": "queued_command", "prompt": text, "origin": origin}
            self.write(session, self.line("attachment", session, at, attachment=attached, **more))
            return
        turn = {"message": {"role": "user", "content": content}, "origin": origin, "turnOrigin": "peer", "isMeta": True}
        self.write(session, self.line("user", session, at, **turn, **more))

    def notice(self, session: str, outcome: str, *ids: str, at: float = 0.5, pid: int = 78) -> None:
        """Write the notice that a sender gets of what the recipient's session did with messages."""
        where = f"(recipient: uds:/run/cc-socks/{pid}.sock; msg_id: {', '.join(ids)})"
        yours = "Your message to another session"
        texts = {
            "held": f"{yours} was held by that session {where}. NOT delivered: its Claude has not seen it.",
            "released": f"{yours} was approved and released to that session {where}.",
            "denied": f"{yours} was denied by the recipient user {where}. Do not resend.",
            "expired": f"{yours} was not approved before expiry {where}. Not delivered.",
            "refused": f"{yours} was refused {where}: that session is not accepting cross-session messages.",
            "dropped": f"Do not resend now: {len(ids)} of your messages to another session were dropped at that "
            f"session's inbox {where} and NOT delivered (it repeated your previous message). Treat them as unsent.",
        }
        content = f"[Cross-session delivery notice] {texts[outcome]}"
        turn = {"message": {"role": "user", "content": content}, "isMeta": True, "turnOrigin": "system"}
        self.write(session, self.queued(session, content, at), self.line("user", session, at, **turn))

    def hold(self, session: str, sender: str, text: str, at: float = 0.2, pid: int = 77) -> None:
        """Write that a session holds a message for its user."""
        said = (
            f"Held peer message — from uds:/run/cc-socks/{pid}.sock [verified pid {pid}] (peer claims name: {sender}); "
        )
        said += f"preview: «{text}» — not delivered to Claude (1 held). Review it below."
        self.write(session, self.line("system", session, at, subtype="informational", content=said, level="warning"))
