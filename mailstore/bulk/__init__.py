"""A whole mailbox folded at once: the same columns that folding one record after the other makes, many at a time.

Whatever is not usual is left to the fold. A test holds one against the other.
"""

import os

os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")  # what lives shortly is cleared for longer than it is used
