"""The query language: its fields, and its parser."""
