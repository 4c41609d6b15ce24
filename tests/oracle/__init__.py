"""An oracle: what a mailbox means by `docs/semantics.md` alone, plainly computed, to hold the program against."""
