"""The walls around the user's code, one module for each; `sandbox` puts them up in their order.

Each is used where the system offers it, and says whether it stands. Everything here holds for the rest of the process.
"""
