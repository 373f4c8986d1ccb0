"""The project around a function: its files, functions and classes, who calls whom with what, and where results go."""
