"""The mailbox that many machines share: a JetStream stream on NATS servers."""

from __future__ import annotations

from mailstore.installed_kinds import OwnCommand, OwnDemo, StoreKind

KIND = StoreKind(
    "mailstore.kinds.nats.store:NatsStore",
    tables={"nats": "mailstore.kinds.nats.settings:NatsSettings"},
    commands=(
        OwnCommand(
            "nats", "Print permissions by which a NATS server refuses forged senders", "mailstore.kinds.nats.command"
        ),
    ),
    demo=OwnDemo(
        "Keep the mailbox on a NATS server that runs as long (needs nats-server)",
        "mailstore.kinds.nats.demo:demo_mailbox",
    ),
)
TLS_KIND = StoreKind("mailstore.kinds.nats.store:NatsTlsStore")
