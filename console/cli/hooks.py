"""`signalbox hook install --for AGENT [DIR]`: install a session-start hook and a short instruction."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from console.cli.plain import put
from console.errors import Refused, UsedWrongly
from console.hooks.changes import FileChange, diff, make, read_text
from console.hooks.claude_code import SETTINGS, with_hook, without_hook
from console.hooks.instruction import block, with_block, without_block
from mailstore.location import without_secrets

SCRIPT = "signalbox-session.sh"
Plan = Callable[[Path, argparse.Namespace], list[FileChange]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=["install", "uninstall"], help="Install or remove the hook")
    parser.add_argument(
        "folder", nargs="?", metavar="DIR", default=".", help="Project folder (default: the current one)"
    )
    parser.add_argument("--for", dest="agent", required=True, choices=list(PLANS), help="Agent program")
    parser.add_argument("--as", dest="reader", metavar="ID", help="Session id of the agent (default: $SIGNALBOX_AGENT)")
    parser.add_argument("--store", metavar="URL", help="Mailbox, if the agent would not find it by itself")
    parser.add_argument("--dry-run", action="store_true", help="Show the changes without making them")
    parser.add_argument("--yes", action="store_true", help="Change the files without asking")


def run(args: argparse.Namespace) -> int:
    """Show the changes, ask, and make them."""
    folder = Path(args.folder).expanduser()
    if not folder.is_dir():
        raise UsedWrongly(f"{folder} is not a folder", "give the project folder")
    changes = [change for change in PLANS[args.agent](folder, args) if change.is_one]
    if not changes:
        put("Nothing to change")
        return 0
    for line in diff(changes, folder):
        put(line)
    if args.dry_run:
        return 0
    if not args.yes:
        if not sys.stdin.isatty():
            raise UsedWrongly(
                "no terminal to ask for confirmation",
                "use --yes to change the files without asking, or --dry-run to see the changes",
            )
        print("Change these files? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise Refused("nothing was changed", "answer y to change the files, or use --yes")
    make(changes)
    put(f"{'Installed' if args.action == 'install' else 'Removed'}: {', '.join(_names(changes, folder))}")
    return 0


def _names(changes: list[FileChange], folder: Path) -> list[str]:
    return [str(change.path.relative_to(folder)) for change in changes]


def _command(args: argparse.Namespace, name: str, option: str) -> str:
    """Return a command as it is typed in a shell, without secrets: an agent has its own."""
    reader = shlex.quote(args.reader) if args.reader else '"$SIGNALBOX_AGENT"'
    store = f" --store {shlex.quote(without_secrets(args.store))}" if args.store else ""
    return f"signalbox {name} {option} {reader}{store}"


def _instruction(folder: Path, name: str, args: argparse.Namespace) -> FileChange:
    before = read_text(folder, name)
    if args.action == "uninstall":
        return FileChange(folder / name, before, without_block(before))
    text = block(_command(args, "check", "--as"), _command(args, "send", "--from"))
    return FileChange(folder / name, before, with_block(before, text))


def _claude_code(folder: Path, args: argparse.Namespace) -> list[FileChange]:
    before = read_text(folder, SETTINGS)
    command = _command(args, "check", "--as")
    after = with_hook(before, command) if args.action == "install" else without_hook(before)
    return [FileChange(folder / SETTINGS, before, after), _instruction(folder, "CLAUDE.md", args)]


def _codex(folder: Path, args: argparse.Namespace) -> list[FileChange]:
    return [_instruction(folder, "AGENTS.md", args)]


def _shell(folder: Path, args: argparse.Namespace) -> list[FileChange]:
    before = read_text(folder, SCRIPT)
    if args.action == "uninstall":
        is_ours = before is not None and "signalbox check" in before
        return [FileChange(folder / SCRIPT, before, None if is_ours else before)]
    text = f"# Run this at the start of an agent's session: this prints its mail.\n{_command(args, 'check', '--as')}\n"
    return [FileChange(folder / SCRIPT, before, text)]


PLANS: dict[str, Plan] = {"claude-code": _claude_code, "codex": _codex, "shell": _shell}
