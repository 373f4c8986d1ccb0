"""Confirm: run the flagged code and show whether it really fails.

This package plans, judges and words; it never imports torch. What runs the user's code is `worker`, in a child process.
"""
