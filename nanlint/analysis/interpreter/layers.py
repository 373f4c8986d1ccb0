"""Layers: objects of torch's own nn.Module classes, and what calling them makes."""

from __future__ import annotations

from nanlint.analysis.interpreter.arguments import Arguments
from nanlint.analysis.interpreter.containers import Containers
from nanlint.analysis.op_graph import CALL, INSTANCE, JOIN, LAYER, TENSOR, TUPLE, UNKNOWN, Op, Value
from nanlint.analysis.project.index import Class
from nanlint.ops.signatures import MODULES, bind_to

_SEQUENTIAL = "torch.nn.Sequential"
_CONTAINERS = frozenset({_SEQUENTIAL, "torch.nn.ModuleList", "torch.nn.ModuleDict"})
# Layers with weights whose product autocast computes in half.
_PRODUCTS = ("Linear", "Bilinear", "LazyLinear", "Conv", "LazyConv", "RNN", "LSTM", "GRU", "MultiheadAttention")


class Layers(Containers):
    """Makes layers and calls them."""

    def layer(self, name: str, passed: Arguments) -> Value:
        """An object of one of torch's own nn.Module classes, with what its class and constructor set of its operation."""
        op = Op(name, passed.operands, passed.node, self.function)
        self.function.ops.append(op)
        if name in _CONTAINERS:
            return _container(name, passed.given, op)
        form = MODULES.get(name)
        if form is None:
            return Value(LAYER, op, name=name)
        binding = bind_to(form.constructor, passed.given, passed.named)
        settings: dict[str, Value] = {key: self.maker.literal(value) for key, value in form.fixed.items()}
        for parameter in form.constructor:
            if parameter.name in form.binds:
                held = Value() if binding is None else binding.arguments.get(parameter.name)
                settings[form.binds[parameter.name]] = (
                    held if held is not None else self.maker.literal(parameter.default)
                )
        return Value(LAYER, op, name=name, keys=tuple(settings), parts=tuple(settings.values()))

    def layer_called(self, layer: Value, passed: Arguments) -> Value:
        """What a layer makes of its input; a Sequential is its layers, one after the other."""
        if layer.kind is LAYER and layer.name == _SEQUENTIAL and layer.parts and len(passed.given) == 1:
            value = passed.given[0]
            for each in layer.parts:
                before = value
                value = self.layer_called(each, Arguments([value], {}, passed.node))
                if value.op is not None and before is not passed.given[0]:
                    value.op.nodes = {}  # what the layer before made is written nowhere
            return value
        if layer.kind is INSTANCE and isinstance(layer.target, Class):
            method = self.graph.calling_method(layer.target)
            if method is not None:
                return self.graph.called(
                    method, passed.given, passed.named, passed.node, self, is_whole=passed.is_whole
                )
        either = _alternatives(layer)
        if len(either) > 1:
            made = [self.layer_called(each, passed) for each in either]
            return self.maker.join(made, passed.node, self.function)
        form = MODULES.get(layer.name) if layer.kind is LAYER else None
        bound = passed.bound(form.operation) if form is not None else None
        if form is None or bound is None:
            return self._network(layer, passed)
        operands, _ = bound
        nodes = passed.nodes(operands)
        value = self.emit(form.operation, operands, passed.node, nodes, module=layer)
        stated = layer.op.operands.get("inplace") if layer.op is not None else None
        if stated is not None and stated.constant is True and "input" in operands:
            self.change(operands["input"], value, nodes.get("input", passed.node))
        return value

    def _network(self, layer: Value, passed: Arguments) -> Value:
        """What a layer with weights makes: a tensor that training moves anywhere."""
        op = Op(layer.name or CALL, passed.operands, passed.node, self.function, recorded=self.recorded)
        op.where, op.nodes = "network", passed.nodes(passed.operands)
        self.function.ops.append(op)
        word = layer.name.rpartition(".")[2]
        dtype = self.autocast if layer.kind is LAYER and word.startswith(_PRODUCTS) else ""
        return Value(TENSOR if layer.kind is LAYER else UNKNOWN, op, detached=not self.recorded, dtype=dtype)


def _alternatives(layer: Value) -> list[Value]:
    """The layers that it may be: `nn.Softmax(1) if soft else nn.Sigmoid()`."""
    op = layer.op
    if op is not None and "stored" in op.operands:
        op = op.operands["stored"].op
    found = list(op.operands.values()) if op is not None and op.function == JOIN and layer.kind is LAYER else []
    return found if all(each.kind is LAYER and each.name for each in found) else []


def _container(name: str, given: list[Value], op: Op) -> Value:
    """A Sequential or ModuleList with its layers; without them where a list is passed of which nobody knows the elements."""
    parts: list[Value] = []
    for each in given:
        if each.kind in {LAYER, INSTANCE}:
            parts.append(each)
        elif each.kind is TUPLE and each.parts:
            parts += each.parts
        else:
            return Value(LAYER, op, name=name)
    return Value(LAYER, op, name=name, parts=tuple(parts))
