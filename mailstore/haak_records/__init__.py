"""The records of the HAAK protocol as JSON, read and written; HAAK and NATS mailboxes hold the same ones."""
