"""The version, where it can be read without a look at what is installed."""

from __future__ import annotations

VERSION = "0.3.0"
