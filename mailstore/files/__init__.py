"""Reads, appends to, replaces and watches files; knows nothing about mail."""
