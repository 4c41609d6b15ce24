"""The mailbox that many machines share: a JetStream stream on NATS servers."""

from __future__ import annotations

from mailstore.installed_kinds import StoreKind

KIND = StoreKind("mailstore.kinds.nats.store:NatsStore", tables={"nats": "mailstore.kinds.nats.settings:NatsSettings"})
TLS_KIND = StoreKind("mailstore.kinds.nats.store:NatsTlsStore")
