"""The commands of the console: the table, the keys made from it, and the user's keymap."""
