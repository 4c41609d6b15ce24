"""Folds a whole mailbox at once with numpy, into the columns that folding record by record would make.

Anything unusual is left to the fold. A test compares both ways.
"""

import os

# the kernel clears a huge page for longer than a short-lived array is used
os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
