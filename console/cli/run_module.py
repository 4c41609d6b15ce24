"""Run the module of one command."""

from __future__ import annotations

from importlib import import_module


def run_module(module_name: str, name: str, summary: str, words: list[str]) -> int:
    """Import a command's module, parse its arguments and run it; return the exit status."""
    from console.cli.command_parser import command_parser

    module = import_module(module_name)
    parser = command_parser(module, name, summary)
    if hasattr(module, "arrange"):
        words = module.arrange(words)
    # options may stand between the arguments; everything after -- is an argument
    parse = parser.parse_args if "--" in words else parser.parse_intermixed_args
    status: int = module.run(parse(words))
    return status
