"""The names that a pickle would import if it were loaded for real: which of them can do harm, and which nobody knows.

Nothing here is imported. The names that can do harm are those that picklescan knows, and their kin; the harmless ones
are what torch and numpy need to put tensors, numbers and containers together again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanlint.checkpoint.rebuild import BUILDERS

if TYPE_CHECKING:
    from collections.abc import Iterable

COMPUTED = "a name that is computed while it loads"
"""Stands for an import whose module or attribute is no plain string in the file."""

_DANGEROUS_MODULES = frozenset({
    "os", "posix", "nt", "posixpath", "ntpath", "subprocess", "sys", "runpy", "pty", "popen2", "platform", "signal",
    "socket", "socketserver", "ssl", "http", "httplib", "urllib", "urllib2", "requests", "aiohttp", "asyncio", "ftplib",
    "smtplib", "imaplib", "poplib", "telnetlib", "xmlrpc", "webbrowser", "antigravity",
    "shutil", "tempfile", "glob", "fileinput", "io", "_io", "linecache", "mmap", "zipfile", "tarfile", "sqlite3", "dbm",
    "importlib", "imp", "_imp", "pkgutil", "zipimport", "site", "pip", "ensurepip", "venv", "distutils", "setuptools",
    "pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "copyreg", "jsonpickle",
    "ctypes", "_ctypes", "cffi", "gc", "codeop", "bdb", "pdb", "timeit", "cProfile",
    "doctest", "pydoc", "idlelib", "lib2to3", "multiprocessing", "threading", "_thread", "concurrent",
    "logging.config", "py_compile", "compileall", "atexit", "faulthandler", "fcntl", "nturl2path",
    "numpy.f2py", "numpy.testing", "numpy.ctypeslib", "numpy.distutils", "pandas.io",
    "torch.hub", "torch.package", "torch.utils.cpp_extension", "torch.utils.collect_env", "torch.utils.bottleneck",
    "torch.utils.model_zoo", "torch.utils._config_module", "torch.utils.data.datapipes", "torch.distributed.rpc",
    "torch.multiprocessing.spawn", "torch.jit", "torch.fx", "torch._dynamo", "torch._inductor", "torch.ops", "torch.classes",
})  # fmt: skip
"""With everything below them."""

_DANGEROUS_NAMES = frozenset({
    *(f"{module}.{name}" for module in ("builtins", "__builtin__") for name in (
        "eval", "exec", "execfile", "compile", "open", "file", "input", "raw_input", "breakpoint", "__import__", "apply",
        "getattr", "setattr", "delattr", "globals", "locals", "vars", "dir", "map", "filter", "memoryview", "help", "exit", "quit",
    )),
    *(f"{module}.{name}" for module in ("operator", "_operator") for name in ("attrgetter", "itemgetter", "methodcaller")),
    "code.InteractiveInterpreter", "code.InteractiveConsole", "code.interact", "commands.getoutput", "commands.getstatusoutput",
    "trace.Trace", "profile.Profile", "profile.run", "profile.runctx", "types.CodeType", "types.FunctionType", "types.MethodType",
    "inspect.getattr_static", "functools.reduce", "functools.partialmethod", "_codecs.lookup", "codecs.open", "weakref.finalize",
    "torch.load", "torch.save", "torch.compile", "torch.serialization.load", "torch.serialization.save",
    "torch.from_file", "torch.storage.UntypedStorage.from_file", "torch.UntypedStorage.from_file",
    "numpy.load", "numpy.save", "numpy.fromfile", "numpy.memmap", "numpy.loadtxt", "numpy.genfromtxt", "numpy.savetxt",
    "numpy.vectorize", "numpy.apply_along_axis", "numpy.fromfunction", "pandas.read_pickle", "pandas.eval",
})  # fmt: skip

_WAYS_IN = frozenset(
    {"os", "posix", "nt", "sys", "subprocess", "builtins", "importlib", "shutil", "ctypes", "runpy", "socket"}
)
"""Modules that others import, and so hold as attributes: `torch.serialization.os.system` is `os.system`."""

_HARMLESS = re.compile(
    r"torch\.(\w+Storage|(b?float|complex|u?int|q?u?int)\w*|bool|half|double|device|dtype|Size|Tensor|Generator|layout|strided)"
    r"|torch\.(storage\.\w+Storage|_utils\._rebuild_\w+|_tensor\._rebuild_\w+|storage\._load_from_bytes)"
    r"|torch\.(nn|optim|amp|cuda\.amp)\.[\w.]+"
    r"|torch\.distributed\.(checkpoint|_shard|tensor|_tensor)\.[\w.]+"
    r"|torch\.(serialization\._get_layout|_C\._(nn|distributed)\w*|torch_version\.TorchVersion)"
    r"|__torch__\.[\w.]+"
    r"|collections\.\w+|argparse\.Namespace|datetime\.\w+|_codecs\.encode|decimal\.Decimal|fractions\.Fraction|uuid\.UUID"
    r"|pathlib\.(Pure)?(Posix|Windows)?Path"
    r"|(builtins|__builtin__)\.(dict|list|tuple|set|frozenset|bytes|bytearray|int|long|float|complex|str|unicode|bool|slice"
    r"|range|xrange|object|NoneType|\w+Error|\w+Exception)"
    r"|copy_?reg\._reconstructor|_?io\.(Bytes|String)IO|types\.SimpleNamespace|torch\.jit\._pickle\.\w+"
    r"|numpy\.(ndarray|dtype|(_?core|ma)\.\w+\.(_reconstruct|scalar|_frombuffer|_mareconstruct)|random\._\w+\.\w+|dtypes\.\w+"
    r"|(u?int|float|complex|bool|str|bytes)\w*)",
)


def is_dangerous(name: str) -> bool:
    """Whether loading a pickle that imports this name can run a program, open a file or reach the network."""
    if name == COMPUTED or name in _DANGEROUS_NAMES:
        return True
    parts = name.split(".")
    if any(part in _WAYS_IN or _is_pythons_own(part) for part in parts[1:]):
        return True
    if is_known(name):
        return False
    heads = {".".join(parts[: count + 1]) for count in range(len(parts))}
    return bool(heads & _DANGEROUS_MODULES or heads & _DANGEROUS_NAMES)


def _is_pythons_own(part: str) -> bool:
    """`__globals__`, `__import__`, `__reduce_ex__`: ways from any object to everything."""
    return part.startswith("__") and part.endswith("__") and part != "__main__"


def is_known(name: str) -> bool:
    """Whether the name is one of those that tensors, numbers and containers are saved with."""
    return name in BUILDERS or _HARMLESS.fullmatch(name) is not None


def dangerous(names: Iterable[str]) -> list[str]:
    """Those that can do harm, in the order in which they stand in the file."""
    return [name for name in names if is_dangerous(name)]


def unknown(names: Iterable[str]) -> list[str]:
    """Those that are neither harmless nor known to do harm: classes and functions of somebody's own."""
    return [name for name in names if not is_dangerous(name) and not is_known(name)]
