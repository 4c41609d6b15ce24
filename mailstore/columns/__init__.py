"""Columns: what is known of many messages, kept in arrays and not in objects."""
