"""Rendering of text, times and Markdown to terminal lines; pure functions."""
