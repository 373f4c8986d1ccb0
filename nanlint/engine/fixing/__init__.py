"""Fixes: chosen, applied, verified, shown as a diff and written; and suppressions written for today's findings."""
