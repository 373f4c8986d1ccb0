"""Calls of what is imported or built in: torch, numpy, math and Python's own functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.layers import Layers
from nanlint.analysis.interpreter.regions import AUTOCASTS
from nanlint.analysis.op_graph import (
    ARRAY,
    CALL,
    DICT,
    LITERAL,
    NUMBER,
    REFERENCE,
    TENSOR,
    TEXT,
    TUPLE,
    UNKNOWN,
    Op,
    Value,
)
from nanlint.analysis.project.index import dotted
from nanlint.analysis.project.objects import SUPER
from nanlint.ops.interval import COUNT, FINITE, TRUTH, UNIT, Interval, point
from nanlint.ops.names import BUILTINS, CANONICAL
from nanlint.ops.signatures import MODULES
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from nanlint.analysis.interpreter.arguments import Arguments

_CHOOSING = {"min": "torch.minimum", "max": "torch.maximum"}
_OF_A_TENSOR = {"min": "torch.min", "max": "torch.max", "sum": "torch.sum"}
_NUMPY_WORDS = {
    "absolute": "abs", "power": "pow", "divide": "div", "true_divide": "div", "multiply": "mul", "subtract": "sub",
    "arccos": "acos", "arcsin": "asin", "arctan": "atan", "arctan2": "atan2", "clip": "clamp", "concatenate": "cat",
    "linalg.norm": "linalg.norm", "negative": "neg",
}  # fmt: skip
_NUMPY_SAME = frozenset(
    {
        "abs", "add", "acos", "asin", "atan", "cos", "cosh", "cumsum", "div", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p",
        "log2", "max", "mean", "median", "min", "maximum", "minimum", "mul", "pow", "prod", "reciprocal", "sign", "sin", "sinh", "sqrt",
        "square", "std", "sub", "sum", "tan", "tanh", "var", "where", "zeros", "ones", "zeros_like", "ones_like", "stack", "isnan", "isinf",
        "isfinite", "nan_to_num", "nanmean", "nansum", "logical_and", "logical_or", "logical_not", "any", "all", "amax", "amin", "arange",
        "linspace", "cumprod", "full", "full_like",
        *_NUMPY_WORDS.values(),
    }
)  # fmt: skip
_WRAPPERS = word_set("""
    torch.compile torch.jit.script torch.nn.DataParallel torch.nn.parallel.DistributedDataParallel copy.deepcopy
    torch.nn.utils.spectral_norm torch.nn.utils.weight_norm copy.copy
    torch.autograd.Variable
""")
_TRUTHS = word_set("hasattr isinstance callable issubclass")
_KEPT_AS_WRITTEN = word_set("range enumerate zip torch.finfo numpy.finfo") | AUTOCASTS
_TYPED = {"FloatTensor": "float32", "HalfTensor": "float16", "DoubleTensor": "float64", "BFloat16Tensor": "bfloat16"}
_SPREADS = torch_names("std var")


class ImportedCalls(Layers):
    """What calls of imported and built-in functions return."""

    def imported_call(self, name: str, passed: Arguments) -> Value:  # noqa: PLR0911 - one way out for each kind
        """What a call of the function with this full name returns."""
        if name in _WRAPPERS and passed.given:
            return passed.given[0]
        if name == "torch.nn.Parameter":
            return self._learned(name, passed)
        if name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper():
            return self.layer(name, passed)
        if name == "functools.partial" and passed.given and passed.given[0].kind is REFERENCE:
            return self._partial(passed.given[0], passed)
        if name == "torch.autograd.grad" and passed.given:
            self.function.sinks.append(("backward", passed.given[0], passed.node))
        if CANONICAL.get(name) == "torch.Tensor":
            return self._from_data(name, passed)
        if name in _CHOOSING and len(passed.given) > 1 and not passed.named:
            return self._chosen(name, passed)
        made = self._summed_up(name, passed) or self._operation(name, passed)
        return made if made is not None else self._other_function(name, passed)

    def _partial(self, function: Value, passed: Arguments) -> Value:
        """`partial(nn.RMSNorm, eps=1e-5)`: a layer that lacks arguments still, but is made with these."""
        op = Op(
            function.name,
            {str(place): each for place, each in enumerate(passed.given[1:])} | dict(passed.named),
            passed.node,
            self.function,
        )
        self.function.ops.append(op)
        return self.unknown(CALL, "functools.partial", passed.node, op.operands)

    def _operation(self, name: str, passed: Arguments) -> Value | None:
        """One of the op table, in torch's, numpy's, math's or Python's spelling."""
        operation = _operation_named(name, passed.given)
        if operation is None:
            return None
        operation = passed.operation(operation)
        bound = passed.bound(operation)
        if bound is None:
            return None
        operands, rest = bound
        is_numpy, is_math = name.startswith("numpy."), name.startswith("math.")
        if is_numpy and operation in _SPREADS:
            operands = {**operands, "correction": self.maker.literal(0)}
        # A clip changes the gradients of what it is given, and returns their norm.
        in_place = name.endswith("_") and not name.endswith("__") and not operation.startswith("torch.nn.utils.")
        nodes, plain = passed.nodes(operands), is_math or name in BUILTINS
        value = self.emit(operation, operands, passed.node, nodes, operator=plain, in_place=in_place, rest=rest)
        if is_numpy and value.kind is TENSOR and not any(each.kind is TENSOR for each in operands.values()):
            value.kind, value.detached = ARRAY, True
        if is_math:
            value.kind, value.detached = NUMBER, True
        if in_place and passed.given:
            self.change(passed.given[0], value, passed.node.args[0])
        elif "inplace" in operands and operands["inplace"].constant is True and "input" in operands:
            self.change(operands["input"], value, nodes.get("input", passed.node))
        return value

    def _summed_up(self, name: str, passed: Arguments) -> Value | None:
        """`sum(len(x) for x in parts)`: Python's own, of numbers or of tensors; None for any other call."""
        listed, node = passed.given[0] if name == "sum" and len(passed.given) == 1 else None, passed.node
        if listed is None or listed.op is None or listed.op.where != "comprehension":
            return None
        value = self.emit("torch.sum", {"input": listed}, node, {"input": node.args[0]}, operator=True)
        element = listed.op.subject
        kind = element.kind if element is not None and element.kind in {TENSOR, NUMBER} else UNKNOWN
        value.kind, value.range = (
            kind,
            value.range.join(point(0.0)) if kind is not UNKNOWN or value.is_known else value.range,
        )
        return value

    def _other_function(self, name: str, passed: Arguments) -> Value:  # noqa: PLR0911 - one way out for each
        node, given = passed.node, passed.given
        if name in _TRUTHS:
            return Value(NUMBER, Op(CALL, {}, node, self.function), range=TRUTH, dtype="bool", detached=True)
        if name in {"len", "float", "int"} and len(given) == 1:
            return self.emit(name, {"0": given[0]}, node, {"0": node.args[0]})
        if name in {"tuple", "list"} and len(given) == 1:
            return given[0]
        if name == "dict" and not given:
            op = Op(CALL, dict(passed.named), node, self.function)
            return Value(DICT, op, keys=tuple(passed.named), parts=tuple(passed.named.values()))
        if name.partition(".")[0] in {"super", SUPER}:
            return self._above(name, passed)
        if name == "setattr" and len(given) == 3 and isinstance(given[1].constant, str):
            self.set_attribute(dotted(node.args[0]), given[1].constant, given[0], given[2], node)
            return self.maker.literal(None, node)
        if name in _KEPT_AS_WRITTEN:
            return Value(
                UNKNOWN, Op("torch.finfo" if name.endswith("finfo") else name, passed.operands, node, self.function)
            )
        value = self.unknown_call(Value(REFERENCE, None, name=name), passed)
        if name.endswith("_") and not name.endswith("__") and given:
            # `nn.init.normal_(w)`: by torch's custom it changes what it is given.
            self.change(given[0], Value(given[0].kind, value.op), node.args[0])
        if name.startswith("numpy."):
            value.kind, value.detached = ARRAY, True
            value.range = _drawn(name, passed)
        return value

    def _above(self, name: str, passed: Arguments) -> Value:
        """`super()`, and what it is built as by `super().__init__(...)` if that is a layer of torch."""
        owner = self.function.owner
        if name == "super":
            return self.graph.above(self.function)
        if name == f"{SUPER}.__init__" and owner is not None:
            layers = (full for full in self.graph.project.bases_of(owner) if full in MODULES)
            self.function.stores.setdefault(SUPER, []).extend(self.layer(each, passed) for each in layers)
        return self.unknown_call(Value(REFERENCE, None, name=name), passed)

    def _learned(self, name: str, passed: Arguments) -> Value:
        """`nn.Parameter(...)`: training moves it anywhere."""
        fixed = passed.named.get("requires_grad") or (passed.given[1] if len(passed.given) > 1 else None)
        is_fixed = fixed is not None and fixed.constant is False
        op = Op(name, passed.operands, passed.node, self.function)
        self.function.ops.append(op)
        return Value(TENSOR, op, learned=not is_fixed, detached=is_fixed, dtype="")

    def _from_data(self, name: str, passed: Arguments) -> Value:
        """`torch.FloatTensor(data)` holds the data; `torch.Tensor(2, 3)`, which takes sizes, whatever lies in memory."""
        data = passed.given[0] if len(passed.given) == 1 else None
        is_list = data is not None and data.op is not None and _lists(data.op)
        is_data = is_list or (data is not None and data.kind in {TENSOR, ARRAY, TUPLE} and data.name != "shape")
        if data is None or not is_data or not passed.is_whole:
            made = self._operation(name, passed)
            return made if made is not None else self._other_function(name, passed)
        value = self.emit("torch.tensor", {"input": data}, passed.node, {"input": passed.node.args[0]})
        value.dtype = _TYPED.get(name.rpartition(".")[2], value.dtype)
        return value

    def _chosen(self, name: str, passed: Arguments) -> Value:
        """`max(n, 1)` of Python: as torch's own, of two."""
        value, first = passed.given[0], passed.node.args[0]
        for other, node in zip(passed.given[1:], passed.node.args[1:], strict=True):
            operands, nodes = {"input": value, "other": other}, {"input": first, "other": node}
            value = self.emit(_CHOOSING[name], operands, passed.node, nodes, operator=True)
        return value

    def unknown_call(self, function: Value, passed: Arguments) -> Value:
        """What a call of something unknown returns."""
        where = function.name or dotted(passed.node.func)
        operands = passed.operands
        if function.op is not None and function.op.function != LITERAL:
            operands["()"] = function
        value = self.unknown(CALL, where, passed.node, operands)
        value.detached = not self.recorded
        value.range = COUNT if where in {"len", "id", "hash"} else FINITE
        if where in {"str", "repr"}:
            value.kind = TEXT
        return value


def _operation_named(name: str, given: list[Value]) -> str | None:
    """The operation that a full name stands for."""
    if name.startswith("numpy."):
        word = _NUMPY_WORDS.get(name.removeprefix("numpy."), name.removeprefix("numpy."))
        return CANONICAL.get(f"torch.{word}") if word in _NUMPY_SAME else None
    if name.startswith("math.") and given:
        return CANONICAL.get(name.replace("math.", "torch.", 1))
    if name in _OF_A_TENSOR and given and given[0].kind is TENSOR:
        return _OF_A_TENSOR[name]
    return CANONICAL.get(name) or BUILTINS.get(name)


def _drawn(name: str, passed: Arguments) -> Interval:
    """What numpy's random numbers are between."""
    if name in {"numpy.random.rand", "numpy.random.random", "numpy.random.random_sample"}:
        return UNIT
    if name != "numpy.random.uniform" or not passed.is_whole:
        return FINITE
    ends = [
        passed.given[place].range if place < len(passed.given) else passed.named[word].range if word in passed.named else otherwise
        for place, (word, otherwise) in enumerate((("low", point(0.0)), ("high", point(1.0))))
    ]  # fmt: skip
    return Interval(min(end.low for end in ends), max(end.high for end in ends))


def _lists(op: Op) -> bool:
    return op.function.endswith((".tolist", ".numpy")) or op.where in {"sequence", "comprehension"}
