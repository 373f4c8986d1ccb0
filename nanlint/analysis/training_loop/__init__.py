"""The training that a file does: what happens in one round of a loop, on which ways, and what is asked about it."""
