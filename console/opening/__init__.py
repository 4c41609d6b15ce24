"""Files, links and texts that other programs open."""
