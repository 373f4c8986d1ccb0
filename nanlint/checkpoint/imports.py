"""What a pickle would import if it were loaded for real, and which of it can run commands, open files or reach the network.

nanlint imports none of it. Whoever loads the file with `torch.load(..., weights_only=False)` or `pickle.load` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.checkpoint.symptoms import ERROR, Symptom

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Modules of which nothing belongs into a checkpoint, with all that is below them.
_MODULES = frozenset({
    "os", "posix", "nt", "subprocess", "sys", "socket", "socketserver", "ssl", "shutil", "pty", "tty", "runpy", "webbrowser", "commands", "popen2",
    "importlib", "pkgutil", "imp", "zipimport", "code", "codeop", "ctypes", "_ctypes", "cffi", "mmap", "signal", "threading", "_thread",
    "multiprocessing.process", "multiprocessing.util", "asyncio", "concurrent", "sched", "timeit", "trace", "profile", "cProfile", "pdb", "bdb", "doctest",
    "pydoc", "idlelib", "lib2to3", "pip", "setuptools", "distutils", "venv", "ensurepip", "site", "tempfile", "glob", "fileinput",
    "urllib", "urllib2", "http", "httplib", "httpx", "requests", "aiohttp", "ftplib", "telnetlib", "smtplib", "poplib", "imaplib", "nntplib", "xmlrpc",
    "pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "atexit", "inspect", "gc", "platform", "logging.config",
    "numpy.testing", "numpy.f2py", "numpy.distutils", "torch.hub", "torch.utils.cpp_extension", "torch.utils.collect_env",
    "torch.utils.bottleneck", "torch.utils.data.datapipes.utils.decoder", "torch.jit.unsupported_tensor_ops", "torch._inductor.codecache",
})  # fmt: skip

# Names that are dangerous in a module of which others are harmless.
_NAMES = frozenset({
    *(f"{module}.{name}" for module in ("builtins", "__builtin__") for name in (
        "eval", "exec", "execfile", "compile", "open", "file", "input", "raw_input", "__import__", "getattr", "setattr", "delattr",
        "globals", "locals", "vars", "breakpoint", "apply", "reload",
    )),
    "operator.attrgetter", "operator.methodcaller", "_operator.attrgetter", "_operator.methodcaller", "io.open", "_io.open", "io.FileIO", "_io.FileIO",
    "types.CodeType", "types.FunctionType", "types.LambdaType", "types.MethodType", "torch.load", "torch.serialization.load", "torch.jit.load",
    "numpy.load", "numpy.lib.npyio.load", "torch.storage.TypedStorage.from_file", "torch.from_file", "logging.FileHandler",
    "torch._dynamo.guards.GuardBuilder.get", "torch.fx.experimental.symbolic_shapes.ShapeEnv.evaluate_guards_expression",
})  # fmt: skip


def is_dangerous(name: str) -> bool:
    """Whether loading a pickle that names this can do more than make data."""
    parts = name.split(".")
    return name in _NAMES or any(".".join(parts[:count]) in _MODULES for count in range(1, len(parts)))


def import_symptoms(names: Iterable[tuple[str, str]]) -> Iterator[Symptom]:
    """A symptom for each dangerous name; `names` are pairs of a file of the checkpoint and a name in it."""
    for file, name in sorted(set(names)):
        if is_dangerous(name):
            yield Symptom(
                ERROR,
                "dangerous-import",
                name,
                "loading this file for real imports it, and can run commands with it; nanlint has not loaded it",
                file,
                hint="delete the file unless you know why it is there; torch.load(..., weights_only=True) refuses it",
            )
