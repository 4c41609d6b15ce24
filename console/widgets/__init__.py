"""Widgets that know nothing of mail."""
