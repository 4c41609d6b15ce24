"""What the records mean: pure functions of records and a clock (docs/semantics.md)."""
