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
    "os", "posix", "nt", "posixpath", "ntpath", "subprocess", "sys", "socket", "socketserver", "ssl", "shutil", "pty", "tty", "runpy", "webbrowser",
    "commands", "popen2", "antigravity", "fcntl", "_osx_support", "_aix_support", "_pyrepl", "test.support",
    "importlib", "_frozen_importlib", "pkgutil", "imp", "_imp", "zipimport", "zipfile", "tarfile", "sqlite3", "dbm", "linecache",
    "code", "codeop", "ctypes", "_ctypes", "cffi", "mmap", "signal", "threading", "_thread",
    "multiprocessing.process", "multiprocessing.util", "multiprocessing.popen_fork", "multiprocessing.connection", "asyncio", "concurrent", "sched",
    "timeit", "trace", "profile", "cProfile", "pdb", "bdb", "doctest", "pydoc", "idlelib", "lib2to3", "py_compile", "compileall",
    "pip", "setuptools", "distutils", "venv", "ensurepip", "site", "tempfile", "glob", "fileinput", "faulthandler",
    "urllib", "urllib2", "http", "httplib", "httpx", "requests", "aiohttp", "ftplib", "telnetlib", "smtplib", "poplib", "imaplib", "nntplib", "xmlrpc",
    "pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "jsonpickle", "shelve", "marshal", "atexit", "inspect", "gc", "platform",
    "logging.config", "uuid", "numpy.testing", "numpy.f2py", "numpy.distutils", "numpy.ctypeslib",
    "torch.hub", "torch.package", "torch.utils.cpp_extension", "torch.utils.collect_env", "torch.utils.bottleneck", "torch.utils.model_zoo",
    "torch.utils._config_module", "torch.utils.data.datapipes.utils.decoder", "torch.jit.unsupported_tensor_ops", "torch._inductor.codecache",
    "torch.distributed.rpc", "torch.multiprocessing.spawn",
})  # fmt: skip

# Names that are dangerous in a module of which others are harmless, with all that is below them.
_NAMES = frozenset({
    *(f"{module}.{name}" for module in ("builtins", "__builtin__") for name in (
        "eval", "exec", "execfile", "compile", "open", "file", "input", "raw_input", "__import__", "getattr", "setattr", "delattr",
        "globals", "locals", "vars", "breakpoint", "apply", "reload", "help", "exit", "quit",
    )),
    *(f"{module}.{name}" for module in ("operator", "_operator") for name in ("attrgetter", "itemgetter", "methodcaller")),
    "io.open", "_io.open", "io.open_code", "_io.open_code", "io.FileIO", "_io.FileIO", "codecs.open", "weakref.finalize",
    "types.CodeType", "types.FunctionType", "types.LambdaType", "types.MethodType", "torch.load", "torch.save", "torch.serialization.load",
    "torch.serialization.save", "torch.jit.load", "numpy.load", "numpy.lib.npyio.load", "numpy.save", "numpy.fromfile", "numpy.memmap",
    "torch.storage.TypedStorage.from_file", "torch.UntypedStorage.from_file", "torch.storage.UntypedStorage.from_file", "torch.from_file",
    "logging.FileHandler", "pandas.read_pickle", "pandas.io.pickle.read_pickle", "pandas.eval",
    "torch._dynamo.guards.GuardBuilder", "torch.fx.experimental.symbolic_shapes.ShapeEnv.evaluate_guards_expression",
})  # fmt: skip

_HARMLESS = frozenset({"uuid.UUID", "uuid.SafeUUID"})

_WAYS_IN = frozenset(
    {"os", "posix", "nt", "sys", "subprocess", "builtins", "importlib", "shutil", "ctypes", "runpy", "socket"}
)
"""Modules that others import, and so have as attributes: `torch` with `serialization.os.system` is `os.system`."""


def is_dangerous(module: str, attribute: str) -> bool:
    """Whether loading a pickle that imports this attribute of this module can do more than make data."""
    full = f"{module}.{attribute}"
    inner = attribute.split(".")[:-1]
    if any(part in _WAYS_IN or part.startswith("__") for part in inner) or attribute in {"__globals__", "__builtins__"}:
        return True
    parts = full.split(".")
    heads = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return full not in _HARMLESS and bool(heads & _NAMES or (heads - {full}) & _MODULES)


def import_symptoms(imports: Iterable[tuple[str, str, str]]) -> Iterator[Symptom]:
    """A symptom for each dangerous import; `imports` are a file of the checkpoint, a module and an attribute."""
    for file, module, attribute in sorted(set(imports)):
        if is_dangerous(module, attribute):
            yield Symptom(
                ERROR,
                "dangerous-import",
                f"{module}.{attribute}",
                "loading this file for real imports it, and can run commands with it; nanlint has not loaded it",
                file,
                hint="delete the file unless you know why it is there; torch.load(..., weights_only=True) refuses it",
            )
