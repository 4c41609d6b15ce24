"""A picture of a fleet's traffic: who writes, who reads, how fast, and when (docs/overview.md)."""
