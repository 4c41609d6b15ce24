"""`signalbox serve [URL]`: the console in a browser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING

from console.cli.loading import open_mailbox
from console.cli.open import named_mailbox
from console.cli.options import mailbox_options, reader_option
from console.cli.plain import put
from console.cli.settings import settings
from console.cli.terminal_io import warn
from console.errors import Refused, UsedWrongly
from console.render.safe import visible_line
from mailstore.installation import is_installed, remedy
from mailstore.kit.loopback import is_loopback

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from console.serve.access import PageAccess

LOOPBACK = "127.0.0.1"
PORT = 8400
MOST = 8
LABELS = {"full": "Open in a browser:", "read-only": "For others, read-only:"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "url", nargs="*", metavar="URL", help="Mailbox: KIND:PATH or a path; several as URL or LABEL=URL each"
    )
    parser.add_argument("--host", default=LOOPBACK, help=f"Address to listen on (default: {LOOPBACK})")
    parser.add_argument("--port", type=int, default=PORT, help=f"Port; 0: any free one (default: {PORT})")
    parser.add_argument("--max", type=int, default=MOST, metavar="N", help=f"Consoles at a time (default: {MOST})")
    parser.add_argument("--observe", action="store_true", help="Make every console read-only")
    parser.add_argument("--observe-link", action="store_true", help="Print a second, read-only link for others")
    parser.add_argument("--cert", metavar="FILE", help="Certificate with its chain in PEM, for https")
    parser.add_argument("--key", metavar="FILE", help="The certificate's key in PEM")
    parser.add_argument(
        "--name", action="append", default=[], help="Another host name by which browsers may call this server"
    )
    parser.add_argument("--links", metavar="FILE", help="Keep the links in FILE, so that they outlast a restart")
    parser.add_argument("--theme", metavar="NAME", help="Theme (see signalbox themes)")
    reader_option(parser, "Who you are in this mailbox (default: user)")
    mailbox_options(parser, json=False, at=False)


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    if not is_installed("serve"):
        raise Refused("the package textual-serve is not installed", remedy("serve"), "E239")
    _check(args)
    title = _title_of_mailbox(args)
    from console.serve.access import PageAccess, keep_links, kept_keys, link
    from console.serve.run import Serving, address, host_in_link, listening, run_server

    tls = _tls(args)
    wanted = [PageAccess.READ_ONLY] if args.observe else [PageAccess.FULL, *[PageAccess.READ_ONLY] * args.observe_link]
    kept = Path(args.links).expanduser() if args.links else None
    keys = kept_keys(kept, wanted)
    with listening(args.host, args.port) as listener:
        port = listener.getsockname()[1]
        names = [args.host, gethostname(), *args.name]
        host = args.name[0] if args.name else host_in_link(args.host, listener, is_secure=tls is not None)
        shown = address(host, port, is_secure=tls is not None)
        if kept is None and not sys.stdout.isatty():  # what is printed may become a log
            kept = _usual_file(port)
        if kept is not None:
            keep_links(kept, shown, keys)
        links = {access: link(shown, token) for access, token in keys.tokens().items()}
        serving = Serving(_commands(args), keys, args.max, names, tls)
        try:
            return run_server(serving, listener, lambda: _announce(title, shown, links, kept), warn)
        finally:
            if kept is not None and not args.links:
                kept.unlink(missing_ok=True)


def _announce(title: str, address: str, links: Mapping[PageAccess, str], kept: Path | None) -> None:
    """Print what is served, and the links on a terminal, else where they are kept.

    On a terminal the address alone, which opens nothing, is not there to be clicked.
    """
    if sys.stdout.isatty():
        put(visible_line(f"Serving {title}"))
        for access, value in links.items():
            put(LABELS[access.value])
            put(f"  {value}")
        put("Ctrl+C ends it")
    else:
        put(visible_line(f"Serving {title} on {address}"))
        put(visible_line(f"The links are in {kept}"))
    sys.stdout.flush()


def _check(args: argparse.Namespace) -> None:
    if not 0 <= args.port < 1 << 16:
        raise UsedWrongly(f"--port {args.port} is not a port", "give a number from 0 to 65535", "E240")
    if args.max < 1:
        raise UsedWrongly(f"--max {args.max} leaves no console", "give a positive number", "E241")
    if bool(args.cert) != bool(args.key):
        raise UsedWrongly("--cert and --key go together", "give both", "E242")
    if not args.cert and not is_loopback(args.host):
        remedy = "give --cert and --key, or keep 127.0.0.1 and use an SSH tunnel: ssh -L PORT:127.0.0.1:PORT HOST"
        raise Refused(f"{args.host} can be reached from other machines, and nothing would be encrypted", remedy, "E243")


def _tls(args: argparse.Namespace) -> ssl.SSLContext | None:
    if not args.cert:
        return None
    from console.serve.run import tls_of

    return tls_of(Path(args.cert).expanduser(), Path(args.key).expanduser())


def _title_of_mailbox(args: argparse.Namespace) -> str:
    """Open the mailbox once, to report errors here and not in a browser; return its title."""
    if args.url and args.store:
        raise UsedWrongly("both URL and --store are given", "use one of them", "E117")
    args.store = named_mailbox(args) or args.store
    with open_mailbox(args, settings()) as store:
        return store.title


def _commands(args: argparse.Namespace) -> _Commands:
    words = [sys.executable, "-P", "-m", "console", "open"]
    for option, value in (("--store", args.store), ("--as", args.reader), ("--theme", args.theme)):
        words += [f"{option}={value}"] if value else []
    return _Commands([*words, *["--poll"] * args.poll])


class _Commands:
    """The command of a console for each access."""

    def __init__(self, words: list[str]) -> None:
        self._words = words

    def __call__(self, access: PageAccess) -> list[str]:
        return [*self._words, *["--observe"] * (access.value != "full")]


def _usual_file(port: int) -> Path:
    from console.settings.config import state_file

    return state_file().with_name(f"serve-{port}.links")
