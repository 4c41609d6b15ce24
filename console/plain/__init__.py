"""The console without a screen: line by line, for screen readers and terminals that can do no more."""
