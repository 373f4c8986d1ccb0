"""Statements: how control goes through a function, and what each name holds on the way."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nanlint.analysis.interpreter.calls import Calls
from nanlint.analysis.interpreter.environment import Env, meet
from nanlint.analysis.op_graph import (
    CALL,
    CLASS,
    DICT,
    FUNCTION,
    INSTANCE,
    JOIN,
    NONE,
    NOTHING,
    NUMBER,
    PARAMETER,
    REFERENCE,
    TENSOR,
    TUPLE,
    UNKNOWN,
    Op,
    Value,
)
from nanlint.analysis.project.index import Class, Function, bindings, dotted
from nanlint.ops.interval import FINITE, INF, Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nanlint.analysis.project.graph import Graph

_NO_GRADIENT = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})
_ASSERTIONS = frozenset({"_check", "_assert", "check"})
_AUTOCASTS = frozenset({"torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"})
_NUMBERS = frozenset({"float", "int", "bool"})
_TENSORS = frozenset({"Tensor", "FloatTensor", "LongTensor", "BoolTensor"})


class Interpreter(Calls):
    """Interprets one function from its first statement to its last."""

    def __init__(self, graph: Graph, function: Function, closure: Env | None = None) -> None:
        self.graph = graph
        self.maker = graph.maker
        self.function = function
        self.env = closure.copy() if closure is not None else Env()
        self.recorded, self.autocast = True, ""
        self._returns: list[Value] = []
        self._breaks: list[Env] = []
        self._continues: list[Env] = []

    def run(self) -> None:
        """Interpret the function; what is found is left in it."""
        node, function = self.function.node, self.function
        if isinstance(node, ast.Lambda):
            self._parameters(node.args)
            self._returns.append(self.evaluate(node.body))
        else:
            if not isinstance(node, ast.Module):
                if not {"no_grad", "inference_mode"}.isdisjoint(function.decorators):
                    self.recorded = False
                self._parameters(node.args)
                self._decorators(node.decorator_list)
            self._run(node.body)
        if isinstance(node, ast.Module):
            function.parameters = self.env.names
        function.sinks += [("returned", value, node) for value in self._returns]
        function.result = self.maker.join(self._returns, node, function) if self._returns else None

    def _decorators(self, decorators: list[ast.expr]) -> None:
        """`@torch.autocast("cuda")` holds for the whole body."""
        for each in decorators:
            name = dotted(each.func).rpartition(".")[2] if isinstance(each, ast.Call) else ""
            value = self.evaluate(each) if name == "autocast" else Value()
            if value.op is not None and value.op.function in _AUTOCASTS:
                self.autocast, self.autocast_device = _autocast(value), _device(value)

    def _parameters(self, args: ast.arguments) -> None:
        declared = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        positional = [*args.posonlyargs, *args.args]
        defaults: dict[str, ast.expr] = {
            each.arg: value for each, value in zip(reversed(positional), reversed(args.defaults), strict=False)
        }
        defaults |= {each.arg: value for each, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None}
        for place, each in enumerate(declared):
            if place == 0 and self.function.is_method:
                kind = CLASS if "classmethod" in self.function.decorators or self.function.name == "__new__" else INSTANCE
                self.env.names[each.arg] = Value(kind, None, target=self.function.owner)
                continue
            default = self.evaluate(defaults[each.arg]) if each.arg in defaults else None
            value = self._parameter(each, default)
            self.env.names[each.arg] = self.function.parameters[each.arg] = value
        for star in (args.vararg, args.kwarg):
            if star is not None:
                self.env.names[star.arg] = self.maker.unknown(PARAMETER, star.arg, star, self.function)

    def _parameter(self, declared: ast.arg, default: Value | None) -> Value:
        """A parameter is unknown, but keeps a default number as what it is when the caller says nothing."""
        value = self.maker.unknown(PARAMETER, declared.arg, declared, self.function)
        stated = _annotated(declared.annotation)
        value.kind = stated
        network = self._annotated_network(declared.annotation) if stated is UNKNOWN else None
        if network is not None:
            value.kind, value.target = INSTANCE, network
        if default is not None and default.number is not None:
            value.constant, value.range, value.assumed = default.constant, default.range, True
            value.kind = NUMBER if stated is UNKNOWN else stated
        elif default is not None and isinstance(default.constant, bool | str) or (default is not None and default.kind is NONE):
            value.constant = NOTHING
        elif stated is UNKNOWN and default is None and self.function.name == "forward" and self.function.owner is not None:
            value.kind = TENSOR
        return value

    def _annotated_network(self, annotation: ast.expr | None) -> Class | None:
        """The network of the project that an annotation names; what other classes hold is up to who makes the object."""
        named = self.evaluate(annotation) if isinstance(annotation, ast.Name | ast.Attribute) else Value()
        is_network = isinstance(named.target, Class) and named.kind is CLASS and self.graph.project.is_module_class(named.target)
        return named.target if is_network and isinstance(named.target, Class) else None

    # -- statements -----------------------------------------------------------------------------------------------

    def _run(self, body: list[ast.stmt]) -> bool:
        """Interpret statements in order; False when control does not reach their end."""
        for statement in body:
            handler = _STATEMENTS.get(type(statement))
            if handler is not None and handler(self, statement) is False:
                return False
        return True

    def _assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.bind(target, value)

    def _annotated_assign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.evaluate(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        left, right = self.evaluate(node.target), self.evaluate(node.value)
        value = self.operated(type(node.op), left, right, node, node.target, node.value, in_place=left.kind is TENSOR)
        if left.kind in {TENSOR, UNKNOWN} and isinstance(node.target, ast.Name | ast.Attribute):
            self.rebind(node.target, value)
        else:
            self.bind(node.target, value)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.env.names.pop(dotted(target), None)

    def _return(self, node: ast.Return) -> bool:
        self._returns.append(self.evaluate(node.value) if node.value is not None else self.maker.literal(None, node))
        return False

    def _raise(self, node: ast.Raise) -> bool:
        if node.exc is not None:
            self.evaluate(node.exc)
        return False

    def _assert(self, node: ast.Assert) -> None:
        self.env = self.env.under(self.evaluate(node.test), holds=True)

    def _expression(self, node: ast.Expr) -> bool:
        value = node.value
        if isinstance(value, ast.Constant):
            return True
        if isinstance(value, ast.Yield | ast.YieldFrom):
            if value.value is not None:
                self.function.sinks.append(("yielded", self.evaluate(value.value), node))
            return True
        self.evaluate(value)
        if isinstance(value, ast.Call):
            text = dotted(value.func)
            if text.rpartition(".")[2] in _ASSERTIONS and value.args:
                self.env = self.env.under(self.evaluate(value.args[0]), holds=True)
            return text not in {"sys.exit", "exit", "quit", "os._exit"}
        return True

    def _break(self, _: ast.Break) -> bool:
        self._breaks.append(self.env)
        return False

    def _continue(self, _: ast.Continue) -> bool:
        self._continues.append(self.env)
        return False

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for local, meant in bindings(node).items():
            self.env.names[local] = self.graph.imported(meant, self.function.module)

    # -- branches -------------------------------------------------------------------------------------------------

    def _if(self, node: ast.If) -> bool:
        ends: list[Env] = []
        while True:
            test = self.evaluate(node.test)
            rest = self.env.under(test, holds=False)
            self.env = self.env.under(test, holds=True)
            if _decided(test) is not False and self._run(node.body):
                ends.append(self.env)
            self.env = rest
            if _decided(test) is True:
                return self._meet(ends, node)
            if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                node = node.orelse[0]
                continue
            if self._run(node.orelse):
                ends.append(self.env)
            return self._meet(ends, node)

    def _meet(self, ends: list[Env], node: ast.AST) -> bool:
        if ends:
            self.env = meet(ends, self.maker, node, self.function)
        return bool(ends)

    def _for(self, node: ast.For | ast.AsyncFor) -> bool:
        source = self.evaluate(node.iter)
        return self._loop(node, lambda: self.bind(node.target, self.taken_from(source, node.iter)))

    def _while(self, node: ast.While) -> bool:
        def enter() -> None:
            self.env = self.env.under(self.evaluate(node.test), holds=True)

        return self._loop(node, enter)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, enter: Callable[[], None]) -> bool:
        before = self.env
        changed = set(_assigned(node.body)) & set(before.names) if before.names else set()
        outer = self._breaks, self._continues
        is_endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        for attempt in (0, 1):
            marks = len(self._returns), len(self.function.ops), len(self.function.sinks)
            self._breaks, self._continues = [], []
            start = {name: self._widened(name, before.names[name], hopeful=attempt == 0) for name in changed}
            self.env = Env({**before.names, **start}, {k: v for k, v in before.guards.items() if not any(before.names[n].key == k for n in changed)})
            enter()
            goes_on = self._run(node.body)
            rounds = [*([self.env] if goes_on else []), *self._continues]
            for name, value in start.items():
                for place, end in enumerate(rounds):
                    held = end.names.get(name)
                    if held is not None and held is not value and value.op is not None:
                        value.op.operands = {**value.op.operands, f"round {place}": held}
            kept = all(
                end.names[name].range.is_subset(value.range)
                for name, value in start.items()
                for end in rounds
                if name in end.names and value.is_known
            )
            if kept or attempt == 1:
                break
            # What was interpreted with the wrong expectation did not happen.
            del self._returns[marks[0] :], self.function.ops[marks[1] :], self.function.sinks[marks[2] :]
        ends = [*rounds, *([] if is_endless else [before]), *self._breaks]
        breaks = self._breaks
        self._breaks, self._continues = outer
        if not self._meet(ends, node):
            return False
        if isinstance(node, ast.While) and not breaks and not is_endless:
            self.env = self.env.under(self.evaluate(node.test), holds=False)
        return self._run(node.orelse) if node.orelse else True

    def _widened(self, name: str, value: Value, *, hopeful: bool) -> Value:
        """What a name holds at the start of any round: a counter keeps its least value as long as that turns out to hold."""
        op = Op(JOIN, {"0": value}, None, self.function)
        op.where = name
        widened = value.but(op=op, constant=NOTHING, parts=(), keys=(), some=False)
        widened.key = widened
        grows = hopeful and value.kind in {NUMBER, TENSOR} and value.range.low > -INF
        widened.range = Interval(value.range.low, INF, integer=value.range.integer, plus_inf=value.range.plus_inf) if grows else FINITE
        if value.kind is NONE or (value.kind is TUPLE and not grows):
            widened.kind = UNKNOWN
        if value.kind is NUMBER and not hopeful:
            widened.kind = UNKNOWN
        return widened

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        outer = self.recorded, self.autocast, self.autocast_device
        for item in node.items:
            value = self.evaluate(item.context_expr)
            name = self._region(value, item.context_expr)
            if name in _NO_GRADIENT:
                self.recorded = False
            elif name in {"torch.enable_grad", "torch.autograd.enable_grad"}:
                self.recorded = True
            elif name in {"torch.set_grad_enabled", "torch.autograd.set_grad_enabled"} and value.op is not None and value.op.subject is not None:
                self.recorded = value.op.subject.constant is not False
            elif name in _AUTOCASTS:
                self.autocast, self.autocast_device = _autocast(value), _device(value)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        goes_on = self._run(node.body)
        self.recorded, self.autocast, self.autocast_device = outer
        return goes_on

    def _region(self, value: Value, node: ast.expr) -> str:
        if value.kind is REFERENCE:
            return value.name
        if value.op is not None and (value.op.function in _AUTOCASTS):
            return value.op.function
        return value.op.where if value.op is not None and isinstance(node, ast.Call) else ""

    def _try(self, node: Any) -> bool:
        before = self.env.copy()
        ends: list[Env] = []
        if self._run(node.body) and self._run(node.orelse):
            ends.append(self.env)
        # Nobody knows how far the body came.
        for name in set(_assigned(node.body)) & set(before.names):
            held = before.names[name]
            before.names[name] = self.maker.join([held, self.maker.unknown(CALL, name, node, self.function)], node, self.function)
        for handler in node.handlers:
            self.env = before.copy()
            if handler.name:
                self.env.names[handler.name] = self.maker.unknown(CALL, handler.name, handler, self.function)
            if self._run(handler.body):
                ends.append(self.env)
        goes_on = self._meet(ends, node)
        return self._run(node.finalbody) and goes_on

    def _match(self, node: ast.Match) -> bool:
        self.evaluate(node.subject)
        start, ends = self.env, [self.env]
        for case in node.cases:
            self.env = start.copy()
            for each in ast.walk(case.pattern):
                name = getattr(each, "name", None) or getattr(each, "rest", None)
                if isinstance(name, str):
                    self.env.names[name] = self.maker.unknown(CALL, name, each, self.function)
            if case.guard is not None:
                self.env = self.env.under(self.evaluate(case.guard), holds=True)
            if self._run(case.body):
                ends.append(self.env)
        return self._meet(ends, node)

    # -- definitions ----------------------------------------------------------------------------------------------

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if isinstance(self.function.node, ast.Module):
            return
        self.env.names[node.name] = self.closure(node, f"{self.function.qualname}.{node.name}")

    def _class(self, node: ast.ClassDef) -> None:
        if not isinstance(self.function.node, ast.Module):
            self.env.names[node.name] = self.maker.unknown(CALL, node.name, node, self.function)

    def closure(self, node: Any, qualname: str) -> Value:
        """A function that is defined inside this one: it sees the names around it."""
        inner = Function(node, self.function.module, None, qualname)
        inner.parent = self.function
        self.graph.run(inner, self.env)
        return Value(FUNCTION, None, target=inner)

    # -- binding --------------------------------------------------------------------------------------------------

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign `value` to a name, an attribute, an element, or to each part of a tuple."""
        if isinstance(target, ast.Name):
            self.env.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            known = value.parts if value.kind is TUPLE and len(value.parts) == len(target.elts) else ()
            for place, element in enumerate(target.elts):
                inner = element.value if isinstance(element, ast.Starred) else element
                self.bind(inner, known[place] if known else self._piece(value, place, inner))
        elif isinstance(target, ast.Attribute):
            self._bind_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            self._bind_element(target, value)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, value)

    def _piece(self, whole: Value, place: int, node: ast.expr) -> Value:
        """One of the sizes that `b, c = x.shape` unpacks, a piece of a tensor, or a part of something unknown."""
        if whole.kind is TUPLE and whole.name == "shape":
            return self._of_shape(whole, self.maker.literal(place), node)
        value = self.unknown("<element>", str(place), node, {"input": whole})
        value.detached = whole.detached
        if whole.kind is TENSOR:
            value.kind, value.range, value.dtype = TENSOR, whole.range, whole.dtype
        return value

    def _bind_attribute(self, target: ast.Attribute, value: Value) -> None:
        text = dotted(target)
        base = self.evaluate(target.value)
        if target.attr == "data":
            self.rebind(target.value, value)
            return
        if text:
            self.env.names[text] = value
            for name in [name for name in self.env.names if name.startswith(f"{text}.")]:
                del self.env.names[name]
        if base.kind is INSTANCE and base.target is self.function.owner:
            self.store(target.attr, value)
        else:
            self.function.sinks.append(("stored", value, target))

    def store(self, name: str, value: Value) -> None:
        """An attribute of the object at hand is set."""
        self.function.stores.setdefault(name, []).append(value)
        self.env.names[f"self.{name}"] = value

    def _bind_element(self, target: ast.Subscript, value: Value) -> None:
        """`x[mask] = 0` changes what x holds; `d["loss"] = x` what d holds under a key."""
        base, index = self.evaluate(target.value), self._index(target.slice)
        if base.kind is DICT or (base.kind is UNKNOWN and isinstance(index.constant, str)):
            self._bind_key(target, base, index, value)
            return
        if base.kind in {TENSOR, ARRAY_OR_UNKNOWN} and index.dtype == "bool":
            made = self.emit("torch.masked_fill", {"input": base, "mask": index, "value": value}, target, {"input": target.value})
            self.rebind(target.value, made.but(kind=base.kind))
            return
        op = Op(JOIN, {"0": base, "1": value}, target, self.function)
        op.where = "element"
        self.function.ops.append(op)
        changed = Value(base.kind, op, range=base.range.join(value.range), dtype=base.dtype, detached=base.detached and value.detached)
        self.rebind(target.value, changed)

    def _bind_key(self, target: ast.Subscript, base: Value, index: Value, value: Value) -> None:
        key = index.constant if isinstance(index.constant, str | int) else object()
        keys, parts = list(base.keys), list(base.parts)
        if key in keys:
            parts[keys.index(key)] = value
        else:
            keys.append(key)
            parts.append(value)
        op = Op(CALL, {"input": base, "value": value}, target, self.function)
        op.where = "dict"
        self.function.ops.append(op)
        changed = Value(DICT, op, keys=tuple(keys), parts=tuple(parts)) if base.kind is DICT else Value(UNKNOWN, op)
        self.rebind(target.value, changed)
        if base.kind is not DICT:
            self.env.names[ast.unparse(target)] = value

    def rebind(self, target: ast.expr, value: Value) -> None:
        """What was changed in place holds `value` from now on, under every name that held the same."""
        text = dotted(target)
        if not text:
            if isinstance(target, ast.Subscript | ast.Call | ast.Attribute):
                inner = target.func if isinstance(target, ast.Call) else target.value
                self._touch(inner, value)
            return
        held = self.env.names.get(text)
        if held is not None:
            for name, other in list(self.env.names.items()):
                if other is held:
                    self.env.names[name] = value
        self.env.names[text] = value
        if text.startswith("self.") and text.count(".") == 1 and self.function.owner is not None:
            self.function.stores.setdefault(text[5:], []).append(value)

    def _touch(self, target: ast.expr, value: Value) -> None:
        """`x[0].add_(1)`, `p.data.mul_(2)`: what the whole holds is not known any more, but for where it came from."""
        while not dotted(target) and isinstance(target, ast.Subscript | ast.Call | ast.Attribute):
            target = target.func if isinstance(target, ast.Call) else target.value
        text = dotted(target)
        held = self.env.names.get(text) if text else None
        if held is not None:
            op = Op(JOIN, {"0": held, "1": value}, target, self.function)
            self.function.ops.append(op)
            self.env.names[text] = Value(held.kind, op, dtype=held.dtype, learned=held.learned, detached=held.detached and value.detached, range=held.range.join(value.range), target=held.target)


ARRAY_OR_UNKNOWN = "array"


def _decided(test: Value) -> bool | None:
    """Whether a condition is written as a constant."""
    return bool(test.constant) if test.constant is not NOTHING and not test.assumed and test.kind in {NUMBER, NONE} else None


def _autocast(region: Value) -> str:
    """The half dtype of an autocast region; empty where it is switched off."""
    operands = region.op.operands if region.op is not None else {}
    enabled = operands.get("enabled")
    if enabled is not None and enabled.constant is False:
        return ""
    chosen = operands.get("dtype")
    return str(chosen.constant) if chosen is not None and chosen.kind == "dtype" else "float16"


def _device(region: Value) -> str:
    """The kind of device of an autocast region, as far as it is stated; empty where it is switched off."""
    if region.op is None or not _autocast(region):
        return ""
    if region.op.function.startswith(("torch.cuda.", "torch.cpu.")):
        return region.op.function.split(".")[1]
    stated = region.op.operands.get("device_type") or region.op.operands.get("0")
    return stated.constant.partition(":")[0] if stated is not None and isinstance(stated.constant, str) else ""


def _annotated(annotation: ast.expr | None) -> str:
    """The kind that an annotation states."""
    if annotation is None:
        return UNKNOWN
    if isinstance(annotation, ast.BinOp):
        kinds = {_annotated(annotation.left), _annotated(annotation.right)} - {NONE}
        return kinds.pop() if len(kinds) == 1 else UNKNOWN
    if isinstance(annotation, ast.Subscript) and dotted(annotation.value).rpartition(".")[2] == "Optional":
        return _annotated(annotation.slice)
    if isinstance(annotation, ast.Constant):
        word = str(annotation.value).rpartition(".")[2]
        return NONE if annotation.value is None else TENSOR if word in _TENSORS else NUMBER if word in _NUMBERS else UNKNOWN
    word = dotted(annotation).rpartition(".")[2]
    if word in _NUMBERS:
        return NUMBER
    return TENSOR if word in _TENSORS else "array" if word == "ndarray" else UNKNOWN


def _assigned(body: list[ast.stmt]) -> Iterator[str]:
    """The names and attributes that statements assign or may change in place, those of inner functions left out."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield dotted(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield dotted(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield dotted(node.func.value)
        waiting.extend(ast.iter_child_nodes(node))


_STATEMENTS: Mapping[type[ast.stmt], Callable[[Any, Any], bool | None]] = {
    ast.Assign: Interpreter._assign,  # noqa: SLF001 - the table is part of the class, below it for readability
    ast.AnnAssign: Interpreter._annotated_assign,  # noqa: SLF001
    ast.AugAssign: Interpreter._augmented,  # noqa: SLF001
    ast.Delete: Interpreter._delete,  # noqa: SLF001
    ast.Return: Interpreter._return,  # noqa: SLF001
    ast.Raise: Interpreter._raise,  # noqa: SLF001
    ast.Assert: Interpreter._assert,  # noqa: SLF001
    ast.Expr: Interpreter._expression,  # noqa: SLF001
    ast.Break: Interpreter._break,  # noqa: SLF001
    ast.Continue: Interpreter._continue,  # noqa: SLF001
    ast.Import: Interpreter._import,  # noqa: SLF001
    ast.ImportFrom: Interpreter._import,  # noqa: SLF001
    ast.If: Interpreter._if,  # noqa: SLF001
    ast.For: Interpreter._for,  # noqa: SLF001
    ast.AsyncFor: Interpreter._for,  # noqa: SLF001
    ast.While: Interpreter._while,  # noqa: SLF001
    ast.With: Interpreter._with,  # noqa: SLF001
    ast.AsyncWith: Interpreter._with,  # noqa: SLF001
    ast.Try: Interpreter._try,  # noqa: SLF001
    ast.Match: Interpreter._match,  # noqa: SLF001
    ast.FunctionDef: Interpreter._definition,  # noqa: SLF001
    ast.AsyncFunctionDef: Interpreter._definition,  # noqa: SLF001
    ast.ClassDef: Interpreter._class,  # noqa: SLF001
}
