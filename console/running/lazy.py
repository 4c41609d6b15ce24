"""Import modules without holding up the event loop."""

from __future__ import annotations

import asyncio
from importlib import import_module

_loaded: set[str] = set()


async def load(*modules: str) -> None:
    """Import modules in a thread: the larger ones would hold up keys for longer than a frame."""
    for module in modules:
        if module not in _loaded:
            await asyncio.to_thread(import_module, module)
            _loaded.add(module)
