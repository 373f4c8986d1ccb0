"""Calls: an operation of the op table in any spelling, a layer, a function or class of the project, or something unknown."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.expressions import Expressions
from nanlint.analysis.op_graph import (
    ARRAY,
    CALL,
    CLASS,
    FUNCTION,
    INSTANCE,
    JOIN,
    LAYER,
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
from nanlint.analysis.project.index import Class, Function, dotted
from nanlint.ops.interval import COUNT, FINITE, TRUTH
from nanlint.ops.names import BUILTINS, CANONICAL, METHODS, SIGNATURES, TENSOR_ONLY_METHODS
from nanlint.ops.signatures import MODULES, bind, bind_to

if TYPE_CHECKING:
    from collections.abc import Mapping

# Methods by which lists, dicts and sets take something in.
_TAKING = frozenset({"append", "extend", "add", "insert", "update", "appendleft", "setdefault", "put"})
# What only shows or writes down what it is given.
_WRITING = frozenset(
    {
        "print", "add_scalar", "add_scalars", "add_histogram", "add_image", "add_figure", "info", "debug", "warning", "error", "write",
        "set_postfix", "set_postfix_str", "set_description", "log_metrics", "log_dict", "log_scalar", "writerow", "display", "pprint",
        "plot", "imshow", "scatter_plot", "hist", "savefig", "bar", "title", "format", "log_value", "logkv", "record",
    }
)  # fmt: skip
_WRITERS = frozenset({"wandb", "logging", "logger", "writer", "tensorboard", "plt", "matplotlib", "mlflow", "tqdm", "pbar", "tb", "neptune", "comet_ml"})
_CHOOSING = {"min": "torch.minimum", "max": "torch.maximum"}
_NUMPY_WORDS = {
    "absolute": "abs", "power": "pow", "divide": "div", "true_divide": "div", "multiply": "mul", "subtract": "sub", "arccos": "acos",
    "arcsin": "asin", "arctan": "atan", "arctan2": "atan2", "clip": "clamp", "concatenate": "cat", "linalg.norm": "linalg.norm", "negative": "neg",
}  # fmt: skip
_NUMPY_SAME = frozenset(
    "abs add acos asin atan cos cosh cumsum div exp exp2 expm1 floor log log10 log1p log2 max mean median min maximum minimum mul pow prod"
    " reciprocal sign sin sinh sqrt square std sub sum tan tanh var where zeros ones zeros_like ones_like stack".split()
)
_AUTOCASTS = frozenset({"torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"})
_CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
_WRAPPERS = frozenset(
    {"torch.compile", "torch.jit.script", "torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel", "copy.deepcopy", "torch.nn.utils.spectral_norm",
     "torch.nn.utils.weight_norm", "copy.copy"}
)  # fmt: skip
_STILL_IT = frozenset({"to", "cuda", "cpu", "train", "eval", "half", "float", "double", "bfloat16", "requires_grad_", "xpu"})


class Calls(Expressions):
    """What calls return, and what they change."""

    def call(self, node: ast.Call) -> Value:
        """What a call returns; its arguments are evaluated first."""
        function, receiver = self._called(node)
        given = [self.evaluate(each) for each in node.args]
        named = {each.arg or "**": self.evaluate(each.value) for each in node.keywords}
        is_whole = "**" not in named and not any(isinstance(each, ast.Starred) for each in node.args)
        self._note_writing(node, [*given, *named.values()])
        if function.kind is FUNCTION and isinstance(function.target, Function):
            return self.graph.called(function.target, given, named, node, self, is_whole=is_whole)
        if function.kind is CLASS and isinstance(function.target, Class):
            return self.graph.constructed(function.target, given, named, node, self, is_whole=is_whole)
        if function.kind is INSTANCE and isinstance(function.target, Class):
            method = self.graph.calling_method(function.target)
            if method is not None:
                return self.graph.called(method, given, named, node, self, is_whole=is_whole)
        if function.kind is LAYER:
            return self._layer_called(function, given, named, node)
        if function.kind is REFERENCE:
            return self._imported_call(function.name, given, named, node, is_whole=is_whole)
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, receiver, given, named, is_whole=is_whole)
        return self._unknown_call(function, given, named, node)

    def _called(self, node: ast.Call) -> tuple[Value, Value]:
        """What is called, and of a method the object it is called on."""
        if not isinstance(node.func, ast.Attribute):
            return self.evaluate(node.func), Value()
        base = self.evaluate(node.func.value)
        if base.kind is REFERENCE:
            return self.imported(f"{base.name}.{node.func.attr}", node.func), base
        if base.kind in {INSTANCE, CLASS} and isinstance(base.target, Class):
            text = dotted(node.func)
            held = self.env.names.get(text) if text else None
            return held if held is not None else self.graph.attribute(base.target, node.func.attr, base, node.func), base
        return Value(), base

    def _note_writing(self, node: ast.Call, values: list[Value]) -> None:
        """What is only shown or written down ends here."""
        text = dotted(node.func).split(".") if not isinstance(node.func, ast.Call) else []
        is_writer = len(text) > 1 and any(word.lower().strip("_") in _WRITERS for word in text[:-1])
        if text and (text[-1] in _WRITING or is_writer) and (len(text) > 1 or text[-1] in {"print", "pprint", "display"}):
            self.function.sinks += [("written", part, node) for value in values for part in (value, *value.parts)]

    # -- methods --------------------------------------------------------------------------------------------------

    def _method(self, node: ast.Call, func: ast.Attribute, receiver: Value, given: list[Value], named: Mapping[str, Value], *, is_whole: bool) -> Value:
        name = func.attr
        if name == "backward":
            self.function.sinks.append(("backward", receiver, node))
        if receiver.kind is LAYER and name in _STILL_IT:
            return receiver
        if name in _TAKING and isinstance(func.value, ast.Name | ast.Attribute) and receiver.kind is not TENSOR:
            held = self.unknown(CALL, f".{name}", node, {"input": receiver, **{str(i): v for i, v in enumerate(given)}, **named})
            held.detached = receiver.detached and all(each.detached for each in given)
            self.rebind(func.value, held)
            return self.maker.literal(None, node)
        operation = METHODS.get(name)
        is_own = isinstance(func.value, ast.Name) and func.value.id in {"self", "cls"}
        fits = receiver.kind in {TENSOR, ARRAY, UNKNOWN, NUMBER}
        if operation is not None and fits and not is_own and is_whole:
            bound = self._bound(operation, given, named, receiver)
            if bound is not None:
                if name in TENSOR_ONLY_METHODS and receiver.kind is UNKNOWN:
                    bound = {**bound, "input": receiver.but(kind=TENSOR)}
                nodes = {"input": func.value, **_nodes(bound, given, named, node)}
                in_place = name.endswith("_") and not name.endswith("__")
                value = self.emit(operation, bound, node, nodes, in_place=in_place)
                if receiver.kind is ARRAY and name in {"std", "var"} and value.op is not None:
                    value.op.operands = {**bound, "correction": self.maker.literal(0)}
                if receiver.kind is UNKNOWN and name not in TENSOR_ONLY_METHODS and value.kind is TENSOR and operation not in {METHODS["item"]}:
                    value = value.but(kind=UNKNOWN)
                if in_place and name != "requires_grad_":
                    self.rebind(func.value, value)
                return value
        if name in {"register_buffer", "register_parameter"} and len(given) > 1 and isinstance(given[0].constant, str):
            self.store(given[0].constant, given[1])
        value = self.unknown(CALL, f".{name}", node, {"input": receiver, **{str(i): v for i, v in enumerate(given)}, **named})
        self._forget_attributes(func.value)
        return value

    def _forget_attributes(self, owner: ast.expr) -> None:
        """A method that nobody knows may have set any attribute of its object."""
        text = dotted(owner)
        if text and text != "self":
            for name in [name for name in self.env.names if name.startswith(f"{text}.")]:
                del self.env.names[name]

    # -- imported things ------------------------------------------------------------------------------------------

    def _imported_call(self, name: str, given: list[Value], named: Mapping[str, Value], node: ast.Call, *, is_whole: bool) -> Value:
        if name in _WRAPPERS and given:
            return given[0]
        if name == "torch.nn.Parameter" or name.endswith(".nn.Parameter"):
            fixed = named.get("requires_grad") or (given[1] if len(given) > 1 else None)
            is_fixed = fixed is not None and fixed.constant is False
            op = Op(name, {str(i): v for i, v in enumerate(given)}, node, self.function)
            return Value(TENSOR, op, learned=not is_fixed, detached=is_fixed, dtype="")
        if name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper():
            return self._layer(name, given, named, node)
        if name == "torch.autograd.grad" and given:
            self.function.sinks.append(("backward", given[0], node))
        operation = CANONICAL.get(name) or (BUILTINS.get(name) if name in BUILTINS else None)
        if name in _CHOOSING and len(given) > 1 and not named:
            return self._chosen(name, given, node)
        if name in _CHOOSING and len(given) == 1 and given[0].kind is TENSOR:
            operation = f"torch.{name}"
        if name == "sum" and given and given[0].kind is TENSOR:
            operation = "torch.sum"
        if name == "hasattr" or name == "isinstance" or name == "callable":
            return Value(NUMBER, Op(CALL, {}, node, self.function), range=TRUTH, dtype="bool", detached=True)
        is_numpy = name.startswith("numpy.")
        if is_numpy:
            word = name.removeprefix("numpy.")
            word = _NUMPY_WORDS.get(word, word)
            operation = CANONICAL.get(f"torch.{word}") if word in _NUMPY_SAME or word in _NUMPY_WORDS.values() else None
        if name.startswith("math.") and given:
            operation = CANONICAL.get(name.replace("math.", "torch.", 1))
        bound = self._bound(operation, given, named) if operation is not None and is_whole else None
        if operation is not None and bound is not None:
            return self._operation(name, operation, bound, node, given, named)
        if name in {"len", "float", "int"} and len(given) == 1:
            return self.emit(name, {"0": given[0]}, node, {"0": node.args[0]})
        if name in {"tuple", "list"} and len(given) == 1:
            return given[0]
        if name == "dict" and not given:
            return Value("dict", Op(CALL, dict(named), node, self.function), keys=tuple(named), parts=tuple(named.values()))
        if name == "super":
            return self.graph.above(self.function)
        if name in {"range", "enumerate", "zip", "torch.finfo", "numpy.finfo"} or name in _AUTOCASTS:
            operands = {**{str(i): v for i, v in enumerate(given)}, **named}
            return Value(UNKNOWN, Op("torch.finfo" if name.endswith("finfo") else name, operands, node, self.function))
        value = self._unknown_call(Value(REFERENCE, None, name=name), given, named, node)
        if is_numpy:
            value.kind, value.detached = ARRAY, True
        return value

    def _operation(  # noqa: PLR0913 - the spelling decides what comes out
        self, name: str, operation: str, bound: dict[str, Value], node: ast.Call, given: list[Value], named: Mapping[str, Value]
    ) -> Value:
        is_numpy, is_math = name.startswith("numpy."), name.startswith("math.")
        if is_numpy and operation in {"torch.std", "torch.var"}:
            bound = {**bound, "correction": self.maker.literal(0)}
        value = self.emit(operation, bound, node, _nodes(bound, given, named, node), operator=is_math or name in BUILTINS)
        if is_numpy and value.kind is TENSOR and not any(each.kind is TENSOR for each in bound.values()):
            value.kind, value.detached = ARRAY, True
        if is_math:
            value.kind, value.detached = NUMBER, True
        if name.endswith("_") and not name.endswith("__") and node.args:
            self.rebind(node.args[0], value)
        return value

    def _chosen(self, name: str, given: list[Value], node: ast.Call) -> Value:
        """`max(n, 1)` of Python: as torch's own, of two."""
        value = given[0]
        for place, other in enumerate(given[1:], start=1):
            value = self.emit(_CHOOSING[name], {"input": value, "other": other}, node, {"input": node.args[0], "other": node.args[place]}, operator=True)
        return value

    # -- layers ---------------------------------------------------------------------------------------------------

    def _layer(self, name: str, given: list[Value], named: Mapping[str, Value], node: ast.Call) -> Value:
        """An object of one of torch's own nn.Module classes, with what its class and constructor set of its operation."""
        op = Op(name, {**{str(i): v for i, v in enumerate(given)}, **named}, node, self.function)
        self.function.ops.append(op)
        if name in _CONTAINERS:
            parts = tuple(part for each in given for part in (each.parts if each.kind is TUPLE else (each,)))
            return Value(LAYER, op, name=name, parts=parts)
        form = MODULES.get(name)
        if form is None:
            return Value(LAYER, op, name=name)
        binding = bind_to(form.constructor, given, dict(named))
        settings: dict[str, Value] = {key: self.maker.literal(value) for key, value in form.fixed.items()}
        for parameter in form.constructor:
            if parameter.name in form.binds:
                held = Value() if binding is None else binding.arguments.get(parameter.name)
                settings[form.binds[parameter.name]] = held if held is not None else self.maker.literal(parameter.default)
        return Value(LAYER, op, name=name, keys=tuple(settings), parts=tuple(settings.values()))

    def _layer_called(self, layer: Value, given: list[Value], named: Mapping[str, Value], node: ast.Call) -> Value:
        if layer.name == "torch.nn.Sequential" and layer.parts and len(given) == 1:
            value = given[0]
            for each in layer.parts:
                before = value
                value = self._applied(each, [value], {}, node)
                if value.op is not None and before is not given[0]:
                    value.op.nodes = {}  # what the layer before made is written nowhere
            return value
        return self._applied(layer, given, named, node)

    def _applied(self, layer: Value, given: list[Value], named: Mapping[str, Value], node: ast.Call) -> Value:
        if layer.kind is INSTANCE and isinstance(layer.target, Class):
            method = self.graph.calling_method(layer.target)
            return self.graph.called(method, given, dict(named), node, self, is_whole=True) if method else self._network(layer, given, node)
        if layer.kind is LAYER and layer.name == "torch.nn.Sequential" and layer.parts and len(given) == 1:
            return self._layer_called(layer, given, named, node)
        either = _alternatives(layer)
        if len(either) > 1:
            return self.maker.join([self._applied(each, given, named, node) for each in either], node, self.function)
        form = MODULES.get(layer.name) if layer.kind is LAYER else None
        bound = self._bound(form.operation, given, named) if form is not None else None
        if form is None or bound is None:
            return self._network(layer, given, node)
        return self.emit(form.operation, bound, node, _nodes(bound, given, named, node), module=layer)

    def _network(self, layer: Value, given: list[Value], node: ast.Call) -> Value:
        """What a layer with weights makes: a tensor that training moves anywhere."""
        op = Op(layer.name or CALL, {str(i): v for i, v in enumerate(given)}, node, self.function, recorded=self.recorded)
        op.where = "network"
        self.function.ops.append(op)
        return Value(TENSOR if layer.kind is LAYER else UNKNOWN, op, detached=not self.recorded)

    # -- arguments ------------------------------------------------------------------------------------------------

    def _bound(self, operation: str, given: list[Value], named: Mapping[str, Value], receiver: Value | None = None) -> dict[str, Value] | None:
        if operation not in SIGNATURES:
            return None
        binding = bind(operation, given, dict(named), receiver)
        if binding is None or operation != "torch.einsum":
            return binding.arguments if binding is not None else None
        # What is multiplied comes as `*operands`, which no parameter is bound to.
        return {**binding.arguments, **{f"operand {place}": value for place, value in enumerate(given[1:])}}

    def _unknown_call(self, function: Value, given: list[Value], named: Mapping[str, Value], node: ast.Call) -> Value:
        where = function.name or dotted(node.func)
        operands = {**{str(i): v for i, v in enumerate(given)}, **named}
        if function.op is not None and function.op.function != LITERAL:
            operands["()"] = function
        value = self.unknown(CALL, where, node, operands)
        value.detached = not self.recorded
        value.range = COUNT if where in {"len", "id", "hash"} else FINITE
        if where in {"str", "repr"}:
            value.kind = TEXT
        return value

    def rebind(self, target: ast.expr, value: Value) -> None:
        """What was changed in place holds `value` from now on, under every name that held the same."""
        raise NotImplementedError

    def store(self, name: str, value: Value) -> None:
        """An attribute of the object at hand is set."""
        raise NotImplementedError


def _alternatives(layer: Value) -> list[Value]:
    """The layers that it may be: `nn.Softmax(1) if soft else nn.Sigmoid()`."""
    op = layer.op
    if op is not None and "stored" in op.operands:
        op = op.operands["stored"].op
    found = list(op.operands.values()) if op is not None and op.function == JOIN and layer.kind is LAYER else []
    return found if all(each.kind is LAYER and each.name for each in found) else []


def _nodes(bound: Mapping[str, Value], given: list[Value], named: Mapping[str, Value], node: ast.Call) -> dict[str, ast.AST]:
    """Where each operand is written in the call."""
    places: dict[int, ast.AST] = {id(value): each for value, each in zip(given, node.args, strict=False)}
    places.update({id(named[each.arg]): each.value for each in node.keywords if each.arg in named})
    return {name: places[id(value)] for name, value in bound.items() if id(value) in places}
