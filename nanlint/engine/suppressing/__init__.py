"""Findings that comments keep quiet, and comments that keep nothing quiet."""
