#!/bin/sh
# Sets up the programs that benchmarks/compare.py measures beside ours. Needs root for the packages.
set -eu
cd "$(dirname "$0")/.."
apt-get install --yes --no-install-recommends lnav neomutt notmuch ripgrep
python3 -m venv .venv/toolong
.venv/toolong/bin/python -m pip install --quiet --disable-pip-version-check toolong
