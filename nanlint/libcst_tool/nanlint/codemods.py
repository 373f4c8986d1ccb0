"""The commands of `nanlint.codemods`, for libcst's tool."""

from __future__ import annotations

from nanlint.codemods import AllFixes, commands

globals().update(commands(), AllFixes=AllFixes)
