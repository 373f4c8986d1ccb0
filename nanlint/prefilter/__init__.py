"""Which functions the analysis gets to see, by their words: it judges nothing, and may only be too generous."""
