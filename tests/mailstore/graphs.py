"""A Memory Core's graph as its own program writes it: the tables, the triggers, nodes and edges."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tests.mailstore.owners import Database

SCHEMA = """
PRAGMA journal_mode = wal;
CREATE TABLE Nodes (id TEXT PRIMARY KEY, user_id TEXT, data TEXT NOT NULL);
CREATE TABLE Edges (id TEXT PRIMARY KEY, user_id TEXT, source TEXT NOT NULL, target TEXT NOT NULL, type TEXT NOT NULL,
    data TEXT NOT NULL);
CREATE INDEX idx_edges_source ON Edges(source);
CREATE INDEX idx_edges_target ON Edges(target);
CREATE TABLE GraphLog (log_id INTEGER PRIMARY KEY AUTOINCREMENT, entity_id TEXT NOT NULL, entity_type TEXT NOT NULL);
""" + "\n".join(
    f"CREATE TRIGGER {table[:4].lower()}_{deed.lower()} AFTER {deed} ON {table} BEGIN "
    f"INSERT INTO GraphLog(entity_id, entity_type) VALUES ({row}.id, '{table.lower()}'); END;"
    for table in ("Nodes", "Edges")
    for deed, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD"))
)


class Graph(Database):
    """Writes to a graph; each deed is a transaction of its own, unless several are done `at_once`."""

    schema: ClassVar[str] = SCHEMA

    def node(self, node_id: str, label: str, **properties: Any) -> None:
        data = {"id": node_id, "label": label, "properties": {**properties, "userId": None}}
        self.do(
            "INSERT INTO Nodes VALUES (?, NULL, ?) ON CONFLICT(id) DO UPDATE SET data = excluded.data",
            (node_id, json.dumps(data, ensure_ascii=False, separators=(",", ":"))),
        )

    def edge(self, source: str, target: str, kind: str, **properties: Any) -> None:
        edge_id = str(uuid.uuid4())
        ends = {"source": source, "target": target, "type": kind}
        data = {"id": edge_id, **ends, "properties": {"weight": 1, **properties}}
        self.do("INSERT INTO Edges VALUES (?, NULL, ?, ?, ?, ?)", (edge_id, source, target, kind, json.dumps(data)))

    def agent(self, name: str, **properties: Any) -> None:
        self.node(name, "AgentIdentity", **{"displayName": name, "accountType": "agent", **properties})

    def human(self, name: str = "@olga") -> None:
        self.node(name, "AgentIdentity", displayName="Olga", accountType="human")

    def message(
        self,
        node_id: str,
        sender: str,
        *to: str,
        sent: str | None = None,
        audience: Sequence[str] = (),
        **properties: Any,
    ) -> None:
        """Write a message and its edges, as the program puts it into the graph."""
        known: Mapping[str, Any] = {
            "subject": "",
            "bodyText": "",
            "priority": "normal",
            **({"sentAt": sent} if sent else {}),
            "readAt": None,
            "from": sender,
            "to": to[0],
            "inReplyTo": None,
            "partOfThread": None,
            "taggedConcepts": [],
            **properties,
        }
        with self.at_once():
            self.node(f"MESSAGE:{node_id}", "MESSAGE", **known)
            more = {"timestamp": sent} if sent else {}
            self.edge(f"MESSAGE:{node_id}", sender, "SENT_BY", **more)
            for name in to:
                self.edge(f"MESSAGE:{node_id}", name, "SENT_TO", **more)
            for name in audience:
                self.edge(f"MESSAGE:{node_id}", name, "DELIVERED_TO", deliveredAt=sent, readAt=None)
            if known["inReplyTo"]:
                self.edge(f"MESSAGE:{node_id}", known["inReplyTo"], "IN_REPLY_TO", **more)

    def set(self, node_id: str, **properties: Any) -> None:
        """Change properties of a message."""
        with self.at_once():
            for name, value in properties.items():
                self.do(
                    "UPDATE Nodes SET data = json_set(data, '$.properties.' || ?, json(?)) WHERE id = ?",
                    (name, json.dumps(value), f"MESSAGE:{node_id}"),
                )
