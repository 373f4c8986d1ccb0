"""The first word of a command's name."""
