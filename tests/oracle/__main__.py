"""Hold the program against the oracle over random mailboxes: `python -m tests.oracle --mailboxes 10000 --jobs 2`."""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import tempfile
from collections import Counter, defaultdict
from itertools import islice

from tests.oracle.comparing import Difference, differences
from tests.oracle.making import made
from tests.oracle.shrinking import shrunk
from tests.oracle.ways import Tally

Found = tuple[int, list[Difference], Tally]


def look(seed: int) -> Found:
    """Compare the mailbox of a seed; commands are asked of one in eight."""
    tally: Tally = Counter()
    return seed, list(differences(made(seed), tally, with_commands=seed % 8 == 0)), tally


def minimal(seed: int, difference: Difference) -> str:
    """Return the smallest mailbox that shows what a difference shows, as text."""

    def still(tried: object) -> bool:
        try:
            every = differences(
                tried, Counter(), with_commands=difference.way.startswith("commands"), only=difference.way
            )  # type: ignore[arg-type]
            return any(one.cause == difference.cause for one in every)
        except Exception:
            return False

    smallest = shrunk(made(seed), still)
    every = differences(smallest, Counter(), with_commands=difference.way.startswith("commands"), only=difference.way)
    shown = [one for one in every if one.cause == difference.cause]
    lines = [f"    {name}: {line.decode('utf-8', 'replace')}" for name, each in smallest.files.items() for line in each]
    lines += [f"    {one.fact}: the page says {one.expected!r}, the program {one.found!r}" for one in islice(shown, 3)]
    return "\n".join([*lines, f"    past: {smallest.past:.0f}, cut: {smallest.cut:.2f}"])


def main() -> int:
    """Print the differences by cause, each with its smallest case; exit 1 if there is any."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--mailboxes", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, help="the first of the seeds; one at random otherwise")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--no-shrinking", action="store_true", help="show no smallest cases")
    parser.add_argument("--causes", type=int, default=20, metavar="N", help="show the N most frequent causes")
    args = parser.parse_args()
    first = random.SystemRandom().randrange(1 << 40) if args.seed is None else args.seed
    print(f"{args.mailboxes} mailboxes, seeds from {first}", flush=True)
    causes: dict[str, dict[int, Difference]] = defaultdict(dict)
    ways: dict[str, Counter[str]] = defaultdict(Counter)
    tally: Tally = Counter()
    with multiprocessing.Pool(args.jobs) as pool:
        for seed, every, taken in pool.imap_unordered(look, range(first, first + args.mailboxes), chunksize=8):
            tally += taken
            for one in every:
                causes[one.cause].setdefault(seed, one)
                ways[one.cause][one.way] += 1
    differ = len({seed for seeds in causes.values() for seed in seeds})
    print(f"{tally['facts']:,} facts, {differ} mailboxes differ; {dict(sorted(tally.items()))}")
    for cause, seeds in sorted(causes.items(), key=lambda each: -len(each[1]))[: args.causes]:
        seed, one = min(seeds.items())
        where = ", ".join(f"{way} {count}" for way, count in ways[cause].items())
        print(f"\n{len(seeds)} mailboxes: {cause} ({where}); seed {seed}")
        print(f"    {one.way}: {one.fact}: the page says {one.expected!r}, the program {one.found!r}"[:600])
        if not args.no_shrinking:
            print(minimal(seed, one), flush=True)
    return 1 if causes else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="oracle-home-") as home:
        import os

        for kind in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            os.environ[kind] = home
        sys.exit(main())
