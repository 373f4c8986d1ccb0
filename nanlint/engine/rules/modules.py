"""From a file in a folder of rules to the module in it. What a rule is, nobody here knows."""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH119, PTH120

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import TYPE_CHECKING

from nanlint.errors import RuleContractError
from nanlint.settings.paths import shown_path

if TYPE_CHECKING:
    from types import TracebackType


def imported(path: str, package: str) -> ModuleType:
    """The module in the file at `path`, as one of `package`; one that cannot be imported breaks the contract of rules."""
    if package not in sys.modules:
        home = sys.modules[package] = ModuleType(package)
        home.__path__ = [os.path.dirname(path)]
    name = f"{package}.{os.path.basename(path)[:-3]}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RuleContractError(f"{shown_path(path)}: not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a user's own file may fail in any way
        place = f"{shown_path(path)}{_line_of_failure(error, path)}"
        raise RuleContractError(f"{place}: cannot be imported ({type(error).__name__}: {error})") from error
    return module


def _line_of_failure(error: BaseException, path: str) -> str:
    """`:line` of the last line of the file itself that led to the error; nothing if there is none."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return f":{error.lineno}"
    line, step = 0, error.__traceback__
    while step is not None:
        line, step = _line_in(path, step) or line, step.tb_next
    return f":{line}" if line else ""


def _line_in(path: str, step: TracebackType) -> int:
    return step.tb_lineno if step.tb_frame.f_code.co_filename == path else 0
