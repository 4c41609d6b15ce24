"""The records of the HAAK protocol as JSON, read and written; mailboxes on servers hold the same ones."""
