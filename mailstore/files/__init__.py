"""Reads, appends to, replaces and watches files; independent of mail."""
