"""Walks the `ast` of a function once and emits its operations."""
