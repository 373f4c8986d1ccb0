"""Hazards and guards of the fixtures, moved into helpers, methods, modules, files and callers. Knows no torch."""
