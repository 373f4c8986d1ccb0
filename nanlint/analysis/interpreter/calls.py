"""Calls: a method, an operation of the op table in any spelling, a layer, a function or class of the project, or something unknown."""

from __future__ import annotations

import ast

from nanlint.analysis.interpreter.arguments import Arguments
from nanlint.analysis.interpreter.imported_calls import ImportedCalls
from nanlint.analysis.join import alternatives
from nanlint.analysis.op_graph import (
    ARRAY,
    CALL,
    CLASS,
    DICT,
    FUNCTION,
    INSTANCE,
    LAYER,
    NUMBER,
    REFERENCE,
    TENSOR,
    TUPLE,
    UNKNOWN,
    Op,
    Value,
)
from nanlint.analysis.project.index import Class, Function, dotted
from nanlint.ops.names import METHODS, TENSOR_ONLY_METHODS
from nanlint.word_sets import word_set

# Methods by which lists, dicts and sets take something in.
_TAKING = word_set("append extend add insert update appendleft setdefault put")
# What only shows or writes down what it is given.
_WRITING = word_set("""
    print add_scalar add_scalars add_histogram add_image add_figure info debug warning error write set_postfix
    set_postfix_str set_description log_metrics log_dict log_scalar writerow display pprint plot imshow scatter_plot
    hist savefig bar title format log_value logkv record
""")
_WRITERS = word_set("wandb logging logger writer tensorboard plt matplotlib mlflow tqdm pbar tb neptune comet_ml")
_STILL_IT = word_set("to cuda cpu train eval half float double bfloat16 requires_grad_ xpu")
_SPREADS = word_set("std var")
# `loss.backward()`, `accelerator.backward(loss)`, `self.manual_backward(loss)`.
_BACKWARDS = word_set("backward manual_backward")
_OBJECTS = frozenset({INSTANCE})
_CALLED = frozenset({REFERENCE, FUNCTION, INSTANCE, LAYER})


class Calls(ImportedCalls):
    """What calls return, and what they change."""

    def call(self, node: ast.Call) -> Value:
        """What a call returns; its arguments are evaluated first."""
        function, receiver = self._called(node)
        given = [self.evaluate(each) for each in node.args]
        named = {each.arg or "**": self.evaluate(each.value) for each in node.keywords}
        is_whole = "**" not in named and not any(isinstance(each, ast.Starred) for each in node.args)
        passed = Arguments(given, named, node, is_whole)
        self._note_writing(node, [*given, *named.values()])
        value = self._result(function, receiver, passed)
        if "out" in named:
            filled = value if value.kind is TENSOR else Value(TENSOR, Op(CALL, {}, node, self.function))
            place = next(each.value for each in node.keywords if each.arg == "out")
            self.change(named["out"], filled, place)
        return value

    def _result(  # noqa: PLR0911 - one way out for each kind of function
        self, function: Value, receiver: Value, passed: Arguments
    ) -> Value:
        either = alternatives(function, _CALLED)
        if either:
            results = [self._result(each, receiver, passed) for each in either]
            return self.maker.join(results, passed.node, self.function)
        node = passed.node
        if isinstance(node.func, ast.Attribute) and self._is_own_module(receiver, node.func.attr):
            return self._still_the_layer(receiver, passed, node.func.attr)
        if function.kind is FUNCTION and isinstance(function.target, Function):
            return self._function_called(function, function.target, passed)
        if function.kind is CLASS and isinstance(function.target, Class):
            return self.graph.constructed(
                function.target, passed.given, passed.named, node, self, is_whole=passed.is_whole
            )
        if function.kind is LAYER or (function.kind is INSTANCE and self._can_be_called(function)):
            return self.layer_called(function, passed)
        if function.kind is REFERENCE:
            return self.imported_call(function.name, passed)
        if isinstance(node.func, ast.Attribute) and not self._is_apply(node.func, receiver):
            return self._method(node.func, receiver, passed)
        value = self.unknown_call(function, passed)
        return value.but(kind=TENSOR) if isinstance(node.func, ast.Attribute) else value

    def _is_apply(self, func: ast.Attribute, receiver: Value) -> bool:
        """`SomeFunction.apply(x)` of an autograd.Function makes a tensor, of which nobody knows more."""
        owner = receiver.target
        is_class = receiver.kind is CLASS and isinstance(owner, Class) and func.attr == "apply"
        return is_class and isinstance(owner, Class) and self.graph.project.is_autograd_function(owner)

    def _can_be_called(self, function: Value) -> bool:
        return isinstance(function.target, Class) and self.graph.calling_method(function.target) is not None

    def _function_called(self, function: Value, target: Function, passed: Arguments) -> Value:
        given, named, node = passed.given, passed.named, passed.node
        value = self.graph.called(target, given, named, node, self, is_whole=passed.is_whole)
        if function.parts and isinstance(node.func, ast.Attribute):
            self._attributes_changed(dotted(node.func.value), function.parts[0], target, node)
        return value

    def _attributes_changed(self, owner: str, base: Value, method: Function, node: ast.AST) -> None:
        """A method that was called has set attributes of its object: what was known of them is not known any more."""
        is_own = base.kind is INSTANCE and base.target is self.function.owner
        for name in sorted(method.attributes):
            if owner and isinstance(base.target, Class):
                held = self.graph.attribute(base.target, name, base, node)
                fresh = held.but(op=Op(CALL, {"input": held}, node, self.function), key=object())
                self.env.names[f"{owner}.{name}"] = fresh
            if is_own:
                self.function.attributes.add(name)

    def _called(self, node: ast.Call) -> tuple[Value, Value]:
        """What is called, and of a method the object it is called on."""
        if not isinstance(node.func, ast.Attribute):
            return self.evaluate(node.func), Value()
        base = self.evaluate(node.func.value)
        if base.kind is LAYER and node.func.attr == "forward":
            return base, base
        if base.kind is REFERENCE:
            return self.imported(f"{base.name}.{node.func.attr}", node.func), base
        if base.kind in {INSTANCE, CLASS} and isinstance(base.target, Class):
            text = dotted(node.func)
            held = self.env.names.get(text) if text else None
            return held if held is not None else self.graph.attribute(
                base.target, node.func.attr, base, node.func
            ), base
        methods = [
            self.graph.attribute(each.target, node.func.attr, each, node.func)
            for each in alternatives(base, _OBJECTS)
            if isinstance(each.target, Class)
        ]
        if methods and all(each.kind is FUNCTION for each in methods):
            return self.maker.join(methods, node.func, self.function), base
        return Value(), base

    def _note_writing(self, node: ast.Call, values: list[Value]) -> None:
        """What is only shown or written down ends here."""
        text = dotted(node.func).split(".") if not isinstance(node.func, ast.Call) else []
        is_writer = len(text) > 1 and any(word.lower().strip("_") in _WRITERS for word in text[:-1])
        if (
            text
            and (text[-1] in _WRITING or is_writer)
            and (len(text) > 1 or text[-1] in {"print", "pprint", "display"})
        ):
            self.function.sinks += [("written", part, node) for value in values for part in (value, *value.parts)]

    # -- methods --------------------------------------------------------------------------------------------------

    def _method(self, func: ast.Attribute, receiver: Value, passed: Arguments) -> Value:
        name, node, given = func.attr, passed.node, passed.given
        if name in _BACKWARDS:
            self.function.sinks += [("backward", each, node) for each in (receiver, *given[:1])]
        if receiver.kind is LAYER and name in _STILL_IT:
            return self._still_the_layer(receiver, passed, name)
        if name in _TAKING and isinstance(func.value, ast.Name | ast.Attribute) and receiver.kind is not TENSOR:
            return self._taken_in(func, receiver, passed)
        value = (
            self._of_dict(name, receiver, passed)
            if receiver.kind is DICT
            else self._operation_method(func, receiver, passed)
        )
        if value is not None:
            return value
        if name in {"register_buffer", "register_parameter"} and len(given) > 1 and isinstance(given[0].constant, str):
            self.store(given[0].constant, given[1])
        value = self.unknown(CALL, f".{name}", node, {"input": receiver, **passed.operands})
        self._forget_attributes(func.value)
        if receiver.kind is DICT or (
            name.endswith("_") and not name.endswith("__") and receiver.kind in {TENSOR, UNKNOWN}
        ):
            # A dict's `pop` and `clear`, a tensor's `some_method_`: nobody knows what is left.
            self.change(receiver, Value(receiver.kind if receiver.kind is TENSOR else UNKNOWN, value.op), func.value)
        return value

    def _still_the_layer(self, layer: Value, passed: Arguments, name: str) -> Value:
        """`layer.half()` casts its weights where they are; the operation is noted, and the layer stays the value that it is."""
        op = Op(METHODS.get(name, CALL), {"input": layer, **passed.operands}, passed.node, self.function)
        op.where = f".{name}"
        self.function.ops.append(op)
        return layer

    def _is_own_module(self, receiver: Value, name: str) -> bool:
        """Whether it is an nn.Module of the project, of which `name` is torch's own method."""
        target = receiver.target
        if receiver.kind is not INSTANCE or not isinstance(target, Class) or name not in _STILL_IT:
            return False
        return self.graph.project.method(target, name) is None and self.graph.project.is_module_class(target)

    def _of_dict(self, name: str, receiver: Value, passed: Arguments) -> Value | None:
        """The views of a dict, and what it holds under a key; None for its other methods."""
        op = Op(CALL, {"input": receiver}, passed.node, self.function)
        op.where = f".{name}"
        if name in {"keys", "copy"}:
            return receiver if name == "copy" else Value(UNKNOWN, op)
        if name == "values":
            return Value(TUPLE, op, parts=receiver.parts)
        if name == "items":
            pairs = zip(receiver.keys, receiver.parts, strict=True)
            literals = (
                (self.maker.literal(key) if isinstance(key, str | int) else Value(), part) for key, part in pairs
            )
            return Value(TUPLE, op, parts=tuple(Value(TUPLE, op, parts=pair) for pair in literals))
        if name == "get" and passed.given and isinstance(passed.given[0].constant, str | int):
            return receiver.part(passed.given[0].constant)
        return Value(UNKNOWN, op) if name == "get" else None

    def _taken_in(self, func: ast.Attribute, receiver: Value, passed: Arguments) -> Value:
        """`values.append(x)`: what the list holds from now on."""
        held = self.unknown(CALL, f".{func.attr}", passed.node, {"input": receiver, **passed.operands})
        held.detached = receiver.detached and all(each.detached for each in passed.given)
        if held.op is not None:
            held.op.in_place = True
        self.change(receiver, held, func.value)
        return self.maker.literal(None, passed.node)

    def _operation_method(self, func: ast.Attribute, receiver: Value, passed: Arguments) -> Value | None:
        """`x.sigmoid()`, `x.add_(1)`: an operation of the op table as a method; None for any other."""
        name, node = func.attr, passed.node
        operation = METHODS.get(name)
        is_own = isinstance(func.value, ast.Name) and func.value.id in {"self", "cls"}
        if operation is None or is_own or receiver.kind not in {TENSOR, ARRAY, UNKNOWN, NUMBER}:
            return None
        operation = passed.operation(operation, receiver)
        bound = passed.bound(operation, receiver)
        if bound is None:
            return None
        operands, rest = bound
        if name in TENSOR_ONLY_METHODS and receiver.kind is UNKNOWN:
            operands = {**operands, "input": receiver.but(kind=TENSOR)}
        if receiver.kind is ARRAY and name in _SPREADS:
            operands = {**operands, "correction": self.maker.literal(0)}
        in_place = name.endswith("_") and not name.endswith("__")
        nodes = {"input": func.value, **passed.nodes(operands)}
        value = self.emit(operation, operands, node, nodes, in_place=in_place, rest=rest)
        if receiver.kind is UNKNOWN and name not in TENSOR_ONLY_METHODS and value.kind is TENSOR and name != "item":
            value = value.but(kind=UNKNOWN)
        if name == "requires_grad_":
            self.replace(receiver, value, func.value)
        elif in_place:
            self.change(receiver, value, func.value)
        return value

    def _forget_attributes(self, owner: ast.expr) -> None:
        """A method that nobody knows may have set any attribute of its object."""
        text = dotted(owner)
        if text and text != "self":
            for name in [name for name in self.env.names if name.startswith(f"{text}.")]:
                del self.env.names[name]
