"""Servers on loopback that tests start, bounded in time and ended by their process ids."""
