"""The demonstration: a throw-away mailbox in which simulated agents talk, read, die and ask."""

from console.demo.run import run_demo

__all__ = ["run_demo"]
