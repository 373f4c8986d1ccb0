"""Notebooks as Python texts, and back into the same JSON."""
