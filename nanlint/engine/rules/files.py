"""From a folder of rule files to rule classes that keep the contract of nanlint.rule.

A file whose name begins with an underscore holds no rule but what rules share; `from ._names import X` reaches it. The
same goes for classes: one that begins with an underscore is a base of others.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH118, PTH208

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from nanlint.engine.rules.modules import imported
from nanlint.errors import RuleContractError
from nanlint.hazards.zones_met import has_zones
from nanlint.model import Severity
from nanlint.rule import MOVING, Rule
from nanlint.settings.paths import shown_path

if TYPE_CHECKING:
    from types import ModuleType


@cache
def rules_in_folder(folder: str, package: str) -> tuple[tuple[type[Rule], str], ...]:
    """Every rule of the folder with its file, in the order of the files; imported as modules of `package`."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise RuleContractError(f"{shown_path(folder)}: cannot read this folder of rules ({error.strerror})") from None
    files = [os.path.join(folder, name) for name in names if name.endswith(".py") and not name.startswith("_")]
    return tuple((rule, path) for path in files for rule in _rules_in(imported(path, package), path))


def _rules_in(module: ModuleType, path: str) -> list[type[Rule]]:
    found = [
        entry
        for entry in vars(module).values()
        if isinstance(entry, type)
        and issubclass(entry, Rule)
        and entry.__module__ == module.__name__
        and not entry.__name__.startswith("_")
    ]
    if not found:
        raise RuleContractError(
            f"{shown_path(path)}: holds no rule; a rule is a class that inherits from nanlint.rule.Rule"
            " (what rules share goes to a file whose name begins with an underscore)"
        )
    for rule in found:
        problem = _broken_promise(rule)
        if problem:
            raise RuleContractError(f"{shown_path(path)}: {rule.__name__} {problem}")
    return found


def _broken_promise(rule: type[Rule]) -> str:  # noqa: PLR0911 - one way out for each promise
    """What a rule lacks or states wrongly; nothing if it keeps the contract."""
    for attribute in ("code", "name"):
        if not hasattr(rule, attribute):
            return f"lacks `{attribute}`"
    if not _is_code(rule.code):
        return f"has the code {rule.code!r}; a code is capital letters and then digits, such as LOC001"
    if not isinstance(rule.name, str) or not rule.name.replace("-", "").isalnum() or rule.name != rule.name.lower():
        return f"has the name {rule.name!r}; a name is small words joined by hyphens"
    if not isinstance(rule.severity, Severity | None):
        return f"has the severity {rule.severity!r}; write Severity.ERROR, WARNING or INFO"
    if hasattr(rule, "check_call") or hasattr(rule, "check_comparison"):
        return f"is written for 0.1.0: {MOVING}"
    for attribute in ("beside", "loops"):
        if not isinstance(getattr(rule, attribute), frozenset):
            return f"needs a frozenset for `{attribute}`"
    without = [each.operation for each in rule.hazards if each.is_of_zones and not has_zones(each.operation)]
    if without:
        return f'watches for zones of {without[0]}, which has none; write every("{without[0]}") to be shown every call of it'
    return "" if rule.__doc__ else "lacks a docstring, which is its page"


def _is_code(code: object) -> bool:
    if not isinstance(code, str) or not code.isascii():
        return False
    letters = code.rstrip("0123456789")
    return letters != code and letters.isalpha() and letters.isupper()
