r"""nanlint as a library: check a text, check paths, explain a rule.

>>> import nanlint
>>> text = "import torch\n\ndef loss(x):\n    return torch.log(torch.softmax(x, -1))\n"
>>> [finding.code for finding in nanlint.check_source(text)]
['NAN110']
"""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING

from nanlint.engine.check_file import check_text
from nanlint.engine.check_paths import Checker, Plan, Run
from nanlint.engine.rules.rulebook import rulebook
from nanlint.errors import NanlintError
from nanlint.settings import Settings
from nanlint.source.discover import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanlint.model import Finding, Report


def check_source(text: str, path: str = "<string>", *, settings: Settings | None = None) -> list[Finding]:
    """Every finding in `text`, in reading order; suppressed ones are left out, as is what `settings` do not select.

    No settings file is read. A path that ends in .yaml, .toml or .json says that it is a config. Raises SyntaxError when
    `text` is no Python, and NanlintError when it is no such config, or when a rule fails on it.
    """
    result = check_text(text, path, Checker(gated=True).ruleset(settings or Settings()))
    if result.errors:
        if kind_of(path) != "config":
            ast.parse(text, path)
        raise NanlintError("; ".join(error.message for error in result.errors))
    return result.findings


def check_paths(
    paths: Sequence[str | os.PathLike[str]], *, jobs: int = 1, cache: bool = False, **settings: object
) -> Report:
    """Check files, folders and globs as `nanlint check` does, with the settings files that hold for them.

    Keyword arguments are settings and come on top: `select=["NAN1"]`, `severity="info"`. What cannot be checked is in
    the report's `errors`; wrong settings raise NanlintError. More than one job needs, where new interpreters are
    started for them, a `__main__` that can be imported; the cache is the one of the command line.
    """
    plan = Plan([os.fspath(path) for path in paths], overrides=settings, jobs=jobs, use_cache=cache)
    return Run(plan).report()


def explain(rule: str) -> str:
    """The page of one rule, by code or name, in Markdown; NanlintError names the nearest if there is none."""
    from nanlint.rule_pages import page  # noqa: PLC0415 - for this call only

    book = rulebook()
    return page(book.info(book.find(rule).code))
