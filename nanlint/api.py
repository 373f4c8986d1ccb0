"""nanlint as a library: check a text, check paths, explain a rule.

    >>> import nanlint
    >>> nanlint.check_source("import torch\\ntorch.log(torch.softmax(x, -1))\\n")[0].code
    'NAN110'
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nanlint.engine.check_file import check_text
from nanlint.engine.check_paths import Checker, Plan, Run
from nanlint.engine.rulebook import rulebook
from nanlint.settings import Settings

if TYPE_CHECKING:
    from nanlint.model import Finding, Report


def check_source(text: str, path: str = "<string>", *, settings: Settings | None = None) -> list[Finding]:
    """Every finding in `text`, in reading order; suppressed ones are left out, as is what `settings` do not select.

    Raises SyntaxError when `text` is no Python.
    """
    result = check_text(text, path, Checker(gated=True).ruleset(settings or Settings()))
    if result.errors:
        raise SyntaxError("; ".join(error.message for error in result.errors))
    return result.findings


def check_paths(paths: Sequence[str | os.PathLike[str]], **settings: object) -> Report:
    """Check files, folders and globs as `nanlint check` does; keyword arguments are settings (`select=["NAN1"]`)."""
    return Run(Plan([os.fspath(path) for path in paths], overrides=settings)).report()


def explain(rule: str) -> str:
    """The page of one rule, by code or name."""
    book = rulebook()
    return book.info(book.find(rule).code).docs
