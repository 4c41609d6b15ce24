"""Plan an archival and carry it out."""
