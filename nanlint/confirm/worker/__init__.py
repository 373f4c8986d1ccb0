"""The child process: imports torch and the user's code, and answers one job at a time in JSON.

Nothing outside this folder imports it; the parent starts it as `python -m nanlint.confirm.worker`.
"""
