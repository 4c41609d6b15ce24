"""The links of a message: listed, opened and copied."""
