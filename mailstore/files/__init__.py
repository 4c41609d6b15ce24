"""Mechanisms for mail that lies in files; they know nothing of mail."""
