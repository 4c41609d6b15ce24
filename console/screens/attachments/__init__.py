"""The files of a message: listed, opened and saved."""
