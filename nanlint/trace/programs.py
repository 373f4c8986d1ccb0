"""Runs a script or a module as Python would, with its training loops made repeatable.

The project's own modules are rewritten as they are imported; installed packages are left as they are. No bytecode is
read or written for them, so nothing of this stays behind.
"""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
import types
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanlint.errors import UsageError
from nanlint.trace.loops import RUNTIME, compiled
from nanlint.trace.places import is_installed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LAUNCHERS = frozenset({"torch.distributed.run", "torch.distributed.launch", "torchrun", "accelerate.commands.launch"})


class _Loader(SourceFileLoader):
    """Loads a module of the project from its source, rewritten."""

    def get_code(self, fullname: str) -> types.CodeType:
        """The module's code; never a cached one."""
        path = self.get_filename(fullname)
        return compiled(self.get_data(path), path)


class _Finder(MetaPathFinder):
    """Finds the modules of the project before Python does."""

    def __init__(self, folder: str) -> None:
        self._folder = folder + os.sep

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        """The module as Python would find it, with our loader; None if it is none of the project's."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
            return None
        origin = os.path.realpath(spec.origin)
        if not origin.startswith(self._folder) or is_installed(origin):
            return None
        spec.loader = _Loader(fullname, spec.origin)
        return spec


def run_script(path: str, arguments: Sequence[str], loops: object) -> None:
    """`python path arguments`, in this process."""
    if Path(path).name in LAUNCHERS:
        raise UsageError(_behind_the_launcher(path))
    if not Path(path).exists():
        raise UsageError(f"there is no script {path}; to run a module, write: nanlint trace -m MODULE")
    if Path(path).is_dir():
        path = str(Path(path) / "__main__.py")
    with _as_main(str(Path(path).resolve().parent), [path, *arguments]):
        _run(path, loops, {"__spec__": None, "__package__": None})


def run_module(name: str, arguments: Sequence[str], loops: object) -> None:
    """`python -m name arguments`, in this process."""
    if name in LAUNCHERS:
        raise UsageError(_behind_the_launcher(f"-m {name}"))
    with _as_main(str(Path.cwd()), [name, *arguments]):
        spec = _spec_of(name)
        if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
            raise UsageError(f"there is no module {name} that could be run from its source; is this the right folder?")
        sys.argv[0] = spec.origin
        _run(spec.origin, loops, {"__spec__": spec, "__package__": spec.parent})


@contextmanager
def _as_main(folder: str, argv: list[str]) -> Iterator[None]:
    """What Python sets up for a script; afterwards everything is as it was."""
    before = sys.argv, sys.path[:], sys.modules["__main__"], sys.meta_path[:]
    sys.argv, sys.path[0] = argv, folder
    try:
        yield
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"], sys.meta_path[:] = before


def _spec_of(name: str) -> ModuleSpec | None:
    try:
        spec = importlib.util.find_spec(name)
        is_package = spec is not None and spec.submodule_search_locations is not None
        return importlib.util.find_spec(f"{name}.__main__") if is_package else spec
    except (ImportError, ValueError) as error:
        raise UsageError(f"cannot find the module {name}: {error}") from None


def _behind_the_launcher(launcher: str) -> str:
    return f"{launcher} starts other processes; let it start nanlint: torchrun [OPTIONS] -m nanlint trace SCRIPT [ARGS]"


def _run(path: str, loops: object, attributes: dict[str, Any]) -> None:
    code = compiled(_read(path), path)
    main = types.ModuleType("__main__")
    main.__dict__.update(attributes, __file__=path, __builtins__=builtins)
    setattr(builtins, RUNTIME, loops)
    sys.modules["__main__"] = main
    sys.meta_path.insert(0, _Finder(_project_of(path)))
    exec(code, main.__dict__)  # noqa: S102 - the user's own script, which the user asked to run


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _project_of(path: str) -> str:
    """The working directory if the script is below it, else the script's folder."""
    folder, here = Path(path).resolve().parent, Path.cwd().resolve()
    return str(here if folder.is_relative_to(here) else folder)
