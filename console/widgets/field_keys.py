"""Text fields that take keys in the order in which they were typed."""

from __future__ import annotations

from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input


async def run_own_binding(field: Widget, event: Key) -> None:
    """Run a field's own binding, such as that of backspace, in turn with its text.

    Textual looks for bindings once a key has gone up to the application; characters that were typed after it have been
    inserted by then, and the wrong ones would be deleted.
    """
    for binding in field._bindings.key_to_bindings.get(event.key, ()):
        if not binding.priority and await field.app.run_action(binding.action, field):
            event.stop()
            event.prevent_default()
            return


class LineField(Input):
    """A line of text."""

    async def _on_key(self, event: Key) -> None:  # before Textual's own, which follows
        await run_own_binding(self, event)
