"""The kinds of mailbox: those of the layer, and those that installed packages bring, by their entry points.

Reading the metadata of all installed packages takes longer than a hook may, and a hook starts without them. So what was
found is kept in a file in the user's cache, with the times of all folders and modules that it was found in; while none
has changed, it holds (docs/decisions/0087). Imports only `os`, because hooks do.
"""

from __future__ import annotations

import os
import sys

from mailstore.files.user_folders import user_folder
from mailstore.files.whole import open_binary, open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NOTHING: Mapping[str, str] = {}


class OwnCommand:
    """A command of the command line that only one kind has; `mailstore.own_commands` says what its module holds."""

    __slots__ = ("is_service", "module", "name", "summary")

    def __init__(self, name: str, summary: str, module: str, *, is_service: bool = False) -> None:
        self.name = name
        self.summary = summary
        self.module = module
        self.is_service = is_service
        """Whether it runs on in the background, and may be run as a service."""


class OwnDemo:
    """A place of the kind's own where the demonstration may keep its mailbox: `signalbox demo --KIND`."""

    __slots__ = ("help", "make")

    def __init__(self, help: str, make: str) -> None:  # noqa: A002
        self.help = help
        self.make = make
        """A function of the folder whose `data` is the mailbox to be copied, a context manager of the new one's URL."""


class StoreKind:
    """A kind of mailbox, as the object in its package describes it that its entry point names.

    The entry point's name is the scheme of its URLs. Everything else is imported when it is used, so it is given by its
    name, as "module:object".
    """

    __slots__ = ("commands", "demo", "homes", "is_asked_last", "places", "quick", "store", "tables")

    def __init__(
        self,
        store: str,
        *,
        places: tuple[str, ...] = (),
        homes: tuple[str, ...] = (),
        is_asked_last: bool = False,
        tables: Mapping[str, str] = NOTHING,
        commands: tuple[OwnCommand, ...] = (),
        demo: OwnDemo | None = None,
        quick: str = "",
    ) -> None:
        self.store = store
        """The class of its stores."""
        self.places = places
        """Where its mailboxes usually are, relative to the folder of a project."""
        self.homes = homes
        """Where it has one for all projects, relative to the user's home: shown where a project has no mailbox."""
        self.is_asked_last = is_asked_last
        """Whether it recognises folders that other kinds know better."""
        self.tables = tables
        """The tables of the program's settings that are its own, each with the Struct of what may be set in it."""
        self.commands = commands
        """The commands that only this kind has."""
        self.demo = demo
        self.quick = quick
        """Its `QuickAnswers` to what a hook asks (`mailstore.quick_answers`), if it has them."""


class InstalledKind:
    """A kind that a package brings: what names its description, as "module:object", and what hooks need of that."""

    __slots__ = ("places", "quick", "target")

    def __init__(self, target: str, quick: str = "", places: tuple[str, ...] = ()) -> None:
        self.target = target
        self.quick = quick
        self.places = places


GROUP = "mailstore.stores"
LAYER = {
    "haak": StoreKind(
        "mailstore.haak:HaakStore", places=("data/agent-mailbox.jsonl",), quick="mailstore.haak.quick:ANSWERS"
    ),
    "memory": StoreKind("mailstore.memory:MemoryStore"),
    "several": StoreKind("mailstore.several:SeveralStore"),
}
"""The kinds that belong to the layer, which no package can replace."""
AT, KIND, END = "at", "kind", "end"
"""How the lines of the file begin: of a place and its time; of a kind with its InstalledKind; the last one."""
LARGEST = 1 << 20


_found: dict[str, InstalledKind] | None = None
_has_site_packages = not sys.flags.no_site


def installed_kinds() -> dict[str, InstalledKind]:
    """Return the kinds that packages bring, by name and in its order, as the file has them or else as they are."""
    global _found
    if _found is None:
        _found = _kept(_file())
    return refreshed() if _found is None else _found


def refreshed() -> dict[str, InstalledKind]:
    """Return the kinds that packages bring as their entry points say now, and keep them for the next process."""
    global _found
    turn_on_site_packages()
    from importlib.metadata import entry_points

    times = [(AT, _time(place), place) for place in _package_folders()]  # before they are read
    points = {point.name: point.value for point in entry_points(group=GROUP) if point.name not in LAYER}
    described = {name: _described(points[name]) for name in sorted(points)}
    _found = {
        name: InstalledKind(points[name], kind.quick, kind.places) if kind else InstalledKind(points[name])
        for name, kind in described.items()
    }
    _keep(_found, times, _file())
    return _found


def usual_places() -> Iterator[tuple[str, str]]:
    """Yield each kind with a place where its mailboxes usually are, relative to a folder; the layer's own first."""
    for name, kind in LAYER.items():
        yield from ((name, place) for place in kind.places)
    for name, installed in installed_kinds().items():
        yield from ((name, place) for place in installed.places)


def turn_on_site_packages() -> None:
    """Make installed packages importable in a program that was started without them. Costs a few milliseconds."""
    global _has_site_packages
    if not _has_site_packages:
        import site

        site.main()
        _has_site_packages = True


def _described(target: str) -> StoreKind | None:
    """Return the description of a kind; None for a class of stores without one, and for what can't be imported."""
    from importlib import import_module

    module, _, name = target.partition(":")
    try:
        kind = getattr(import_module(module), name)
    except Exception:  # whatever another package raises: the registry says so where the kind is needed
        return None
    return kind if isinstance(kind, StoreKind) else None


def _file() -> str:
    """Return the file for this environment: another one has other packages."""
    try:
        from _blake2 import blake2b  # `hashlib` loads a library of ciphers
    except ImportError:
        from hashlib import blake2b
    paths = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    named = "\0".join((sys.executable, sys.version, __file__, paths))
    digest = blake2b(named.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return f"{user_folder('CACHE')}/kinds/{digest}"


def _kept(file: str) -> dict[str, InstalledKind] | None:
    """Return what a file says; None if there is none that still holds."""
    try:
        with open_binary(file) as kept:
            lines = kept.read(LARGEST).decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        return None
    kinds = {}
    if lines[-2:] != [END, ""]:
        return None
    for line in lines[:-2]:
        head, *fields = line.split("\t")
        if head == AT and len(fields) == 2:
            if _time(fields[1]) != fields[0]:
                return None
        elif head == KIND and len(fields) > 2:
            kinds[fields[0]] = InstalledKind(fields[1], fields[2], tuple(fields[3:]))
        else:
            return None
    return kinds


def _keep(kinds: dict[str, InstalledKind], times: Sequence[tuple[str, ...]], file: str) -> None:
    """Write the file; without it, the next process reads the metadata too."""
    modules = (sys.modules.get(kind.target.partition(":")[0]) for kind in kinds.values())
    sources = dict.fromkeys(source for module in modules if (source := getattr(module, "__file__", None)))
    rows = [*times, *((AT, _time(source), source) for source in sources)]
    rows += [(KIND, name, kind.target, kind.quick, *kind.places) for name, kind in kinds.items()]
    rows.append((END,))
    if not times or any({"\t", "\n"}.intersection(field) for row in rows for field in row):
        return
    text = "".join("\t".join(row) + "\n" for row in rows)
    new = f"{file}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120 - pathlib costs too much
        fd = open_regular(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)
        try:
            os.write(fd, text.encode("utf-8", "surrogateescape"))  # a part of it is not taken for the whole
        finally:
            os.close(fd)
        os.replace(new, file)  # noqa: PTH105
    except OSError:
        return


def _package_folders() -> list[str]:
    """Return the folders on the path for modules that have installed packages."""
    package_folders = []
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208
        except OSError:
            continue
        if any(name.endswith((".dist-info", ".egg-info")) for name in names):
            package_folders.append(os.path.abspath(folder))  # noqa: PTH100
    return package_folders


def _time(path: str) -> str:
    try:
        return str(os.stat(path).st_mtime_ns)  # noqa: PTH116
    except OSError:
        return "0"
