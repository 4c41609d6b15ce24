"""Orders of the user to hold an agent's tool calls or to stop it, which its hooks look for before each tool.

Each is a small file, in a folder that is there only while somebody is held: where nobody is, a hook finds that out with
one `stat`. Imports next to nothing, because hooks do.
"""

from __future__ import annotations

import os
from contextlib import suppress

from console.hooks.state_folder import DIGEST_CHARACTERS, held_root
from mailstore.files.scan import Unusual, ascii_json, decoded
from mailstore.files.whole import open_binary, open_regular

HOLD, STOP = "hold", "stop"
CANCEL = "cancel"
"""A task is cancelled: one call is refused with that as its reason, and the agent goes on with all else."""
LIMIT = "limit"
"""Who has given an order that no person gave: a limit that the hooks were installed with."""
EVERYBODY = "*"
"""What stands for the agent's id in an order to all agents of a mailbox."""
LONGEST = 1 << 16
TRIES = 5
CANCELLED = ".cancelled"


class Order:
    """What the user wants of an agent: hold, stop or cancel, `since` in seconds since the epoch; `why` may be empty."""

    __slots__ = ("agent_id", "by", "since", "what", "why")

    def __init__(self, agent_id: str, what: str, since: float, by: str, why: str = "") -> None:
        self.agent_id = agent_id
        self.what = what
        self.since = since
        self.by = by
        self.why = why

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Order) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    @property
    def obeyed(self) -> str:
        """What the agent is once its hook has kept a tool call from running."""
        return "held" if self.what == HOLD else "stopped"


def place_of(mailbox_folder: str) -> str:
    """Return the folder of the orders for a mailbox, given that of its hooks' state."""
    return f"{held_root()}/{os.path.basename(mailbox_folder)}"  # noqa: PTH119


def order_for(place: str, agent_id: str) -> Order | None:
    """Return the order that holds for an agent: its own, else one to all; None without one that can be read."""
    everybody = _name(EVERYBODY)
    paths = (f"{place}/{_name(agent_id)}", f"{place}/{everybody}", f"{held_root()}/{everybody}")
    return next(filter(None, map(_read, paths)), None)


def orders_in(place: str) -> dict[str, Order]:
    """Return the orders for a mailbox by agent id."""
    try:
        names = sorted(os.listdir(place))  # noqa: PTH208
    except OSError:
        return {}
    orders = filter(None, (_read(f"{place}/{name}") for name in names if not name.endswith((".new", CANCELLED))))
    return {order.agent_id: order for order in orders}


def give(place: str, order: Order, about: str = "") -> None:
    """Give an order, in place of an earlier one to the same agent; each cancellation is `about` another message.

    Raises OSError.
    """
    path = f"{place}/{_name(order.agent_id)}"
    if order.what == CANCEL:
        path += f".{_name(about)}{CANCELLED}"
    data = ascii_json({name: getattr(order, name) for name in Order.__slots__}).encode()
    for left in reversed(range(TRIES)):
        try:
            os.makedirs(place, mode=0o700, exist_ok=True)  # noqa: PTH103
            fd = open_regular(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)
            break
        except FileNotFoundError:  # the last order was taken back meanwhile, and the folder with it
            if not left:
                raise
    try:
        if os.write(fd, data) < len(data):
            raise OSError(f"{path} could not be written completely")
    finally:
        os.close(fd)
    os.rename(f"{path}.new", path)  # noqa: PTH104


def take_cancellations(place: str, agent_id: str) -> list[Order]:
    """Return what was cancelled for an agent and it wasn't told yet, the oldest first, and forget it."""
    try:
        names = [name for name in os.listdir(place) if name.endswith(CANCELLED)]  # noqa: PTH208
    except OSError:
        return []
    taken = []
    for name in names:
        order = _read(f"{place}/{name}") if name.startswith(_name(agent_id)) else None
        if order is not None:
            with suppress(OSError):
                os.unlink(f"{place}/{name}")  # noqa: PTH108
                taken.append(order)
    if taken:
        _remove_empty(place)
    return sorted(taken, key=lambda each: each.since)


def take_back(place: str, agent_id: str) -> bool:
    """Take an order back; return whether there was one. Raises OSError."""
    try:
        os.unlink(f"{place}/{_name(agent_id)}")  # noqa: PTH108
    except FileNotFoundError:
        return False
    _remove_empty(place)
    return True


def _remove_empty(place: str) -> None:
    with suppress(OSError):  # others are held
        os.rmdir(place)  # noqa: PTH106
        os.rmdir(os.path.dirname(place))  # noqa: PTH106, PTH120


def _name(agent_id: str) -> str:
    """Return the name of an agent's file: an id may hold whatever no file's name can."""
    try:
        from _blake2 import blake2b  # `hashlib` loads a library of ciphers
    except ImportError:
        from hashlib import blake2b
    return blake2b(agent_id.encode("utf-8", "surrogatepass"), digest_size=DIGEST_CHARACTERS).hexdigest()


def _read(path: str) -> Order | None:
    try:
        with open_binary(path) as file:
            found = decoded(file.read(LONGEST))
        order = Order(*(found[name] for name in ("agent_id", "what", "since", "by", "why")))
    except (OSError, Unusual, KeyError, TypeError):
        return None
    texts = (order.agent_id, order.what, order.by, order.why)
    is_valid = all(isinstance(text, str) for text in texts) and isinstance(order.since, int | float)
    return order if is_valid and order.what in (HOLD, STOP, CANCEL) else None
