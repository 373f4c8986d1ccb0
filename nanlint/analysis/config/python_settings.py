"""The settings that Python code states, in the ways people write a config in Python.

Arguments of a command line with their defaults, fields of a config class, constants of a module, dicts, assignments to
`config.optimizer.lr`, and the keyword arguments of a trainer, its arguments or an optimizer. Values that are
computed or taken from elsewhere are left out. Reads the outline's `ast`: a config needs no libcst.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.config.settings import Config, Setting, Source, folded_path
from nanlint.analysis.project.syntax_names import last_word
from nanlint.model import Span
from nanlint.ops.formats import FORMATS
from nanlint.source.syntax.below import nodes_below
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.source.configs.entries import Scalar, Stated

    _Test = Callable[[bytes], bool]

_CONFIG_CLASS = re.compile(
    r"(Config|Configuration|Args|Arguments|Params|Parameters|Hparams|HParams|Settings|Options|Cfg|Opts)$", re.IGNORECASE
)
_CONFIG_BASES = word_set("dataclass BaseModel BaseSettings NamedTuple TypedDict")
_CONFIG_CALL = re.compile(r"(Config|Args|Arguments|Namespace|Params|Hparams|HParams|EasyDict|edict|ConfigDict)$")
_TRAINING_CALLS = word_set("""
    Trainer Accelerator dict Fabric Adam AdamW NAdam RAdam Adamax Adagrad RMSprop Adam8bit AdamW8bit Lamb Lion
""")
_CONFIG_NAME = re.compile(
    r"_?(c|cfg|conf|config|configs|hparams|hps|args|opt|opts|params|flags|hyp)|.*(config|cfg|hparams|params)",
    re.IGNORECASE,
)
_DEFINES = word_set("DEFINE_float DEFINE_integer DEFINE_bool DEFINE_boolean DEFINE_string DEFINE_enum")
_INFINITE = word_set("math.inf np.inf numpy.inf torch.inf")


class _Home(NamedTuple):
    """The config that a setting belongs to, and how it is written there."""

    key: object
    source: Source
    owner: str = ""


class _Unstated(Exception):  # noqa: N818 - says that there is no value, which is no error
    """The value is not written out."""


def python_configs(tree: ast.Module, text: str, is_worth_reading: _Test = lambda _: True) -> list[Config]:
    """Every config in a file: each class, call, dict, parser and the constants of the module are one.

    Functions and classes whose code is not worth reading are passed over.
    """
    reader = _Reader(text, is_worth_reading)
    reader.read(tree.body, is_module=True)
    return [Config(tuple(settings)) for settings in reader.groups.values() if settings]


class _Reader:
    """One walk over one file. Settings that are one config are collected under one key."""

    def __init__(self, text: str, is_worth_reading: _Test) -> None:
        self.groups: dict[object, list[Setting]] = {}
        self._is_worth_reading = is_worth_reading
        self._lines = text.split("\n")

    def read(self, body: list[ast.stmt], *, is_module: bool = False) -> None:
        """Collect what the statements of one scope state; scopes inside are read on their own."""
        scope = object()
        # What stands under a condition may be the other one's alternative.
        top = {id(statement) for statement in body}
        waiting: list[ast.AST] = list(reversed(body))
        while waiting:
            node = waiting.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                waiting.extend(node.decorator_list)  # click's options stand there
                # Tests state what is wrong on purpose.
                if not node.name.startswith("test_") and self._is_read(node):
                    self.read(node.body)
                continue
            if isinstance(node, ast.ClassDef):
                if not node.name.startswith("Test") and self._is_read(node):
                    self._class(node)
                continue
            if is_module and id(node) in top:
                self._constant(node, scope)
            if id(node) in top:
                self._member(node, scope)
            if isinstance(node, ast.Call):
                self._call(node, scope)
            if isinstance(node, ast.Dict):
                self._dict(node, (), node)
                waiting.extend(reversed([value for value in node.values if not isinstance(value, ast.Dict)]))
                continue
            waiting.extend(reversed(nodes_below(node)))

    def _is_read(self, node: ast.stmt) -> bool:
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        return self._is_worth_reading("\n".join(lines).encode("utf-8", "surrogatepass"))

    # -- the ways to write a setting --------------------------------------------------------------------------

    def _class(self, node: ast.ClassDef) -> None:
        marks = [*node.decorator_list, *node.bases]
        is_config = bool(_CONFIG_CLASS.search(node.name)) or any(last_word(mark) in _CONFIG_BASES for mark in marks)
        for statement in node.body if is_config else ():
            target, value = _assigned(statement)
            if isinstance(target, ast.Name) and value is not None:
                self._note(_Home(node, "field", node.name), (target.id,), _default_of(value), statement)
        self.read([statement for statement in node.body if not isinstance(statement, ast.Assign | ast.AnnAssign)])

    def _constant(self, node: ast.AST, scope: object) -> None:
        target, value = _assigned(node)
        if isinstance(target, ast.Name) and value is not None:
            self._note(_Home(scope, "constant"), (target.id,), value, node)

    def _member(self, node: ast.AST, scope: object) -> None:
        """`config.optimizer.lr = 1e-3` and `config["lr"] = 1e-3`."""
        target, value = _assigned(node)
        path: list[str] = []
        while isinstance(target, ast.Attribute | ast.Subscript):
            if isinstance(target, ast.Attribute):
                path.insert(0, target.attr)
            elif isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
                path.insert(0, target.slice.value)
            else:
                return
            target = target.value
        if path and value is not None and isinstance(target, ast.Name) and _CONFIG_NAME.fullmatch(target.id):
            self._note(_Home((scope, target.id), "constant"), tuple(path), value, node)

    def _call(self, node: ast.Call, scope: object) -> None:
        name = last_word(node.func)
        if name in {"add_argument", "option"}:
            self._argument(node, _Home((scope, "arguments"), "argument"))
        elif name in _DEFINES and len(node.args) > 1 and isinstance(node.args[0], ast.Constant):
            self._note(_Home((scope, "flags"), "argument"), (str(node.args[0].value),), node.args[1], node)
        elif name in _TRAINING_CALLS or _CONFIG_CALL.search(name):
            for keyword in node.keywords:
                if keyword.arg is not None:
                    self._note(_Home(node, "call", name), (keyword.arg,), keyword.value, keyword)
        elif name == "autocast" and _is_on_cuda(node) and _leaves_the_format_open(node):
            # What the arguments of the same scope say about formats does not reach it.
            home = _Home((scope, "arguments"), "call", name)
            span = self._span(node, node)
            self._add(home, Setting(("autocast_dtype",), "float16", span, self._text(span), home.source, home.owner))

    def _argument(self, node: ast.Call, home: _Home) -> None:
        flags = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        longest = max(flags, key=len, default="")
        default = next((keyword for keyword in node.keywords if keyword.arg == "default"), None)
        if longest.startswith("-") and default is not None:
            self._note(home, (longest,), default.value, default)

    def _dict(self, node: ast.Dict, path: tuple[str, ...], outermost: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or not key.value:
                continue
            if isinstance(value, ast.Dict):
                self._dict(value, (*path, key.value), outermost)
            else:
                self._note(_Home(outermost, "constant"), (*path, key.value), value, key)

    # -- what they come to ------------------------------------------------------------------------------------

    def _note(self, home: _Home, path: tuple[str, ...], value: ast.expr, node: ast.AST) -> None:
        try:
            stated = _stated(value)
        except _Unstated:
            return
        span = self._span(node, value)
        written = f"{path[-1]} {ast.unparse(value)}" if home.source == "argument" else self._text(span)
        self._add(home, Setting(folded_path(path), stated, span, written, home.source, home.owner))

    def _add(self, home: _Home, setting: Setting) -> None:
        self.groups.setdefault(home.key, []).append(setting)

    def _span(self, node: ast.AST, value: ast.expr) -> Span:
        """From the key to the end of its value, in characters."""
        line, end_line = node.lineno, value.end_lineno or value.lineno  # type: ignore[attr-defined] # statements, keywords and expressions have places
        start = self._column(line, node.col_offset)  # type: ignore[attr-defined] # as above
        return Span(line, start, end_line, self._column(end_line, value.end_col_offset or 0))

    def _column(self, line: int, offset: int) -> int:
        """The column of an offset in bytes, which is what `ast` counts."""
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="replace")) + 1

    def _text(self, span: Span) -> str:
        line = self._lines[span.line - 1]
        return line[span.column - 1 : span.end_column - 1] if span.line == span.end_line else line[span.column - 1 :]


def _is_on_cuda(autocast: ast.Call) -> bool:
    """Whether its default format is float16: `torch.cuda.amp.autocast()`, `torch.autocast("cuda")`."""
    device = autocast.args[0] if autocast.args else None
    return "cuda" in ast.unparse(autocast.func) or (isinstance(device, ast.Constant) and device.value == "cuda")


def _leaves_the_format_open(autocast: ast.Call) -> bool:
    """Whether nothing is said about the format, and it is not switched by something else."""
    return len(autocast.args) <= 1 and all(each.arg == "cache_enabled" for each in autocast.keywords)


def _assigned(node: ast.AST) -> tuple[ast.expr | None, ast.expr | None]:
    if isinstance(node, ast.AnnAssign):
        return node.target, node.value
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return node.targets[0], node.value
    return None, None


def _default_of(value: ast.expr) -> ast.expr:
    """`1.0` of `field(default=1.0)`."""
    if isinstance(value, ast.Call) and last_word(value.func) in {"field", "Field"}:
        stated = [keyword.value for keyword in value.keywords if keyword.arg == "default"]
        return (stated or value.args or [value])[0]
    return value


def _stated(node: ast.expr) -> Stated:
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_scalar(item) for item in node.elts)
    return _scalar(node)


def _scalar(node: ast.expr) -> Scalar:
    """The constant that is written there; `torch.bfloat16` is its last word."""
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str | int | float)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _scalar(node.operand)
        if isinstance(inner, int | float):
            return -inner
    if isinstance(node, ast.Call) and last_word(node.func) == "float" and len(node.args) == 1:
        return _float(node.args[0])
    if isinstance(node, ast.Attribute):
        dotted = ast.unparse(node)
        if dotted in _INFINITE:
            return float("inf")
        if dotted.startswith("torch.") or node.attr in FORMATS:
            return node.attr
    raise _Unstated


def _float(node: ast.expr) -> float:
    """What `float("inf")` is."""
    if not isinstance(node, ast.Constant):
        raise _Unstated
    try:
        return float(str(node.value))
    except ValueError:
        raise _Unstated from None
