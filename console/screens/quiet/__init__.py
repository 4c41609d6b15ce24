"""Mute, star and snooze: parts of the main screen."""
