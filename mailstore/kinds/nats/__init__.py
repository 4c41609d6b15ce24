"""The mailbox that many machines share: a JetStream stream on NATS servers."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mailstore.kinds.nats.store import NatsStore, NatsTlsStore

__all__ = ["NatsStore", "NatsTlsStore"]


def __getattr__(name: str) -> object:
    """Import the stores when they are asked for: their modules are of use without the client library."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mailstore.kinds.nats import store

    return getattr(store, name)
