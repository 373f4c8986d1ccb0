"""nanlint finds the code that turns a PyTorch training run into NaN or Inf.

The library in three calls: `check_source` for a text, `check_paths` for files and folders, `explain` for a rule.
Everything heavy is imported when it is first used, so `import nanlint` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanlint.api import check_paths, check_source, explain
    from nanlint.model import Finding, Report

__all__ = ["Finding", "Report", "__version__", "check_paths", "check_source", "explain"]

__version__ = "0.1.0"

_HOMES = {
    "Finding": "nanlint.model",
    "Report": "nanlint.model",
    "check_paths": "nanlint.api",
    "check_source": "nanlint.api",
    "explain": "nanlint.api",
}


if not TYPE_CHECKING:  # or a type checker would take every misspelt name for an object

    def __getattr__(name: str) -> object:
        """Import a public name from its home the first time it is asked for."""
        if name not in _HOMES:
            raise AttributeError(f"module 'nanlint' has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - the point of this function

        return getattr(import_module(_HOMES[name]), name)
