"""The value of one expression in one environment: the expression half of the flow analysis.

Every expression that is met is recorded, so that a rule can ask about any node of the chunk afterwards. Pure source:
nothing is imported or run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from nanlint.facts import literals, operators
from nanlint.facts.aliases import changed
from nanlint.facts.calculate import COUNT
from nanlint.facts.calling import outcome
from nanlint.facts.changes import changed_by, may_set_attributes
from nanlint.facts.dtypes import format_of
from nanlint.facts.environment import Env
from nanlint.facts.filled_elements import filled_elements
from nanlint.facts.guards import bounds
from nanlint.facts.names import BUILTINS, dotted_text
from nanlint.facts.relations import range_under
from nanlint.facts.values import UNKNOWN, Call, Kind, Value, without_defaults
from nanlint.ops.arithmetic import rounded
from nanlint.ops.interval import FINITE, Interval
from nanlint.ops.names import ATTRIBUTES, METHODS, SIGNATURES
from nanlint.source.walk import is_expression, node_children

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.facts.reach import Reach
    from nanlint.source.parse import ParsedChunk

ANY_ATTRIBUTE = "*"
"""`x.*` is bound anew whenever attributes of x may have changed."""

# What may be read off a value of any making.
_PARTS = {"shape", "ndim", "values", "indices", *ATTRIBUTES}
# Nothing of the project is in there.
_OTHERS = ("torch.", "math.", "numpy.")


class Evaluator:
    """Evaluates expressions of one chunk and remembers the value and the environment of each."""

    def __init__(self, parsed: ParsedChunk, reach: Reach, *, follows_calls: bool = True) -> None:
        self.parsed = parsed
        self.reach = reach
        self._follows_calls = follows_calls
        self.values: dict[cst.CSTNode, Value] = {}
        self.envs: dict[cst.CSTNode, Env] = {}
        self.calls: dict[cst.CSTNode, Call] = {}
        self.comparisons: list[cst.Comparison] = []
        self.targets: set[cst.CSTNode] = set()
        """The names and attributes that are assigned, not read."""
        self.targets_by_name: dict[str, list[cst.Name]] = {}
        self.targets_sorted = 0
        self.shared: set[str] = set()
        """The names that an inner function assigns as its own (`nonlocal`), whenever it is called."""
        self._attributes: dict[str, set[str]] = {}
        """The name of an object -> its attributes that the chunk has assigned so far."""
        self.unused: cst.Call | None = None
        """A call of whose result nothing is made, so that nobody needs to know what it is."""
        self.env = Env()
        """Where evaluation stands now; a walrus moves it."""

    def targets_called(self, name: str) -> list[cst.Name]:
        """Where a name is assigned, in no order."""
        if self.targets_sorted != len(self.targets):
            self.targets_sorted = len(self.targets)
            self.targets_by_name = {}
            for target in self.targets:
                if type(target) is cst.Name:
                    self.targets_by_name.setdefault(target.value, []).append(target)
        return self.targets_by_name.get(name, [])

    def evaluate(self, node: cst.BaseExpression) -> Value:
        """The value of `node` here and now; its parts are recorded on the way."""
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            value = handler(self, node)
        else:
            self.evaluate_below(node)
            value = UNKNOWN
        return self.record(node, value)

    def record(self, node: cst.BaseExpression, value: Value) -> Value:
        """Remember `value` as that of `node`, with what conditions have told about it."""
        env = self.env
        if env.guards:
            value = env.guarded(node, value)
        self.values[node] = value
        self.envs[node] = env
        return value

    def evaluate_below(self, node: cst.CSTNode) -> None:
        """Evaluate every expression in `node`."""
        for child in node_children(node):
            if is_expression(type(child)):
                self.evaluate(child)  # type: ignore[arg-type] # it is one
            else:
                self.evaluate_below(child)

    # -- names ------------------------------------------------------------------------------------------------

    def _name(self, node: cst.Name) -> Value:
        if node.value in literals.WORDS:
            return literals.literal(literals.WORDS[node.value], node)
        if node.value in self.shared:
            return UNKNOWN
        held = self.env.get(node.value)
        return held if held is not None else self.reach.global_value(node.value, self.parsed.chunk)

    def _attribute(self, node: cst.Attribute) -> Value:
        base = self.evaluate(node.value)
        if base.choices:
            base = _callable_choice(base)
        name = node.attr.value
        if base.kind is Kind.REFERENCE:
            return literals.imported_constant(f"{base.name}.{name}", node)
        part = self._part_of(base, name) if name in _PARTS or base.made_by is not None else None
        if part is not None:
            return part
        text = dotted_text(node)
        held = self.env.get(text) if text is not None else None
        if held is not None:
            return held
        if base.kind is Kind.INSTANCE or base.kind is Kind.CLASS:
            # What was made here is of its class; `self` may be of one below.
            is_unused = self.unused is not None and node is self.unused.func
            found = self.reach.attribute_value(base.name, name, exact=base.made_by is not None, abroad=not is_unused)
            # The constructor's defaults hold for an object that was made without arguments.
            return without_defaults(found) if base.made_by is not None and base.made_by.arguments else found
        if name in {"grad", "data"}:
            return Value(Kind.TENSOR if name == "grad" else Kind.UNKNOWN, detached=True)
        return UNKNOWN

    def _part_of(self, base: Value, name: str) -> Value | None:
        """`x.shape` holds counts, `x.max(dim).values` the values, `x.T` and `x.data` what x holds."""
        if name == "shape":
            return Value(Kind.TUPLE, range=COUNT)
        if name == "ndim":
            return Value(Kind.NUMBER, range=COUNT)
        if base.kind is Kind.TUPLE and len(base.parts) == 2 and name in {"values", "indices"}:
            return base.parts[name == "indices"]
        if base.made_by is not None and base.made_by.function == "torch.finfo" and base.made_by.subject is not None:
            return literals.limit(self.values.get(base.made_by.subject, UNKNOWN), name, base.made_by.node)
        if name in ATTRIBUTES and base.kind is Kind.TENSOR:
            return base.but(same_as=base.identity, detached=base.detached or name == "data")
        return None

    def range_of(self, node: cst.BaseExpression | None) -> Interval:
        """Every number that an expression evaluated before can be."""
        return self.values.get(node, UNKNOWN).range if node is not None else FINITE

    # -- calls ------------------------------------------------------------------------------------------------

    def _call(self, node: cst.Call) -> Value:
        function = self.evaluate(node.func)
        given = tuple([self.evaluate(argument.value) for argument in node.args])
        call, value = outcome(node, function, given, self)
        if function.kind is Kind.FUNCTION and not value.detached and not self.env.is_recorded:
            value = value.but(detached=True, same_as=value.identity if value is not UNKNOWN else None)
        if call is not None:
            self.calls[node] = call
            if call.function == METHODS["requires_grad_"] and call.subject is not None:
                self._set_gradient(call.subject, detached=value.detached)
            for target in changed_by(call):
                self.change(target, value if target is call.subject else Value())
            self._forget_attributes(call)
            self._change_arguments(node, function)
        return value

    def _change_arguments(self, node: cst.Call, function: Value) -> None:
        """A function of this file may change in place what it is given; `setattr` sets an attribute."""
        is_setting = function.kind is Kind.REFERENCE and function.name == "setattr"
        if function.kind is not Kind.FUNCTION and not is_setting:
            return
        given = [argument.value for argument in node.args if argument.keyword is None and not argument.star]
        if is_setting and len(given) == 3:
            owner, name = dotted_text(given[0]), self.values[given[1]].constant
            if owner is not None and isinstance(name, str):
                self.env = self.env.bind(f"{owner}.{name}", self.values[given[2]])
        if function.kind is not Kind.FUNCTION or not function.name or not self._follows_calls:
            return
        for place in self.reach.parameters_changed_by(function.name):
            held = self.values.get(given[place], UNKNOWN) if place < len(given) else UNKNOWN
            if held is not UNKNOWN and held.kind is not Kind.NUMBER:
                self.change(given[place], Value(held.kind, dtype=held.dtype))

    def change(self, target: cst.BaseExpression, value: Value) -> None:
        """`target` was changed in place: whatever name holds the same thing holds `value` now, a copy still what it held."""
        if type(target) is cst.Attribute and target.attr.value == "data" and type(target.value) is cst.Name:
            # `x.data.masked_fill_(mask, 0)` changes what x holds; a parameter is moved by training all the same.
            held = self.values.get(target.value, UNKNOWN)
            if not held.learnable:
                self.change(target.value, value.but(detached=held.detached))
        value = self.written(target, value)
        now = changed(self.env, self.values.get(target, UNKNOWN), value, self.values)
        text = dotted_text(target)
        if text is not None:
            now[text] = value
        for name in sorted(now):
            self.env = self.env.bind(name, now[name])

    def written(self, target: cst.BaseExpression, value: Value) -> Value:
        """What `target` holds when `value` is written into it: under no_grad it keeps the gradient that it had."""
        held = self.values.get(target, UNKNOWN)
        return value if held.detached is value.detached or self.env.is_recorded else value.but(detached=held.detached)

    def _set_gradient(self, target: cst.BaseExpression, *, detached: bool) -> None:
        """`x.requires_grad_()` and `x.requires_grad = True`: from here on a backward stops at x, or passes."""
        text = dotted_text(target)
        held = self.env.get(text) if text is not None else None
        if text is not None and held is not None and held.detached is not detached:
            self.env = self.env.bind(text, held.but(detached=detached, same_as=held.identity))

    def _forget_attributes(self, call: Call) -> None:
        """A method that nobody knows may have set any attribute of its object; one of this file sets what it sets."""
        owner = may_set_attributes(call)
        if owner is None:
            return
        held = self.env.get(owner)
        if self.env.guards and held is not None and held.kind is Kind.INSTANCE:
            lineage = self.reach.lineage(held.name)
            self.env = self.env.untold(
                f"{owner}.{attribute}"
                for attribute in self.env.attributes_told_of(owner)
                if any(self.reach.sets_later(name, attribute) for name in lineage)
            )
        for attribute in sorted(self._attributes.get(owner, ())):
            of_this_file = held is not None and held.kind is Kind.INSTANCE
            if not of_this_file or self.reach.sets_later(held.name, attribute):  # type: ignore[union-attr]
                self.env = self.env.bind(f"{owner}.{attribute}", Value())
        self.env = self.env.bind(f"{owner}.{ANY_ATTRIBUTE}", Value())

    def returned_by(self, function: str, call: Call) -> Value | None:
        """What a function of this file returns to `call`."""
        return self.reach.returned_by(function, call) if self._follows_calls else None

    def returned_by_import(self, dotted: str, call: Call) -> Value | None:
        """The value that an imported function returns, if it is of the project; None while calls are not followed."""
        last = dotted.rpartition(".")[2]
        # A class is called as a class is; what is made of it is unknown.
        if dotted in SIGNATURES or dotted in BUILTINS or last[:1].isupper() or dotted.startswith(_OTHERS):
            return None
        return self.reach.returned_by_import(dotted, call) if self._follows_calls else None

    def returned_by_object(self, function: Value, call: Call) -> Value | None:
        """What an object of a class of this file returns when it is called."""
        for method in ("forward", "__call__"):
            found = self.reach.attribute_value(function.name, method, exact=function.made_by is not None)
            if found.kind is Kind.FUNCTION:
                return self.returned_by(found.name, call)
        return None

    def parent_object(self) -> Value | None:
        """What `super()` is, if the class above is of this file."""
        lineage = self.reach.lineage(self.parsed.chunk.owner)
        return Value(Kind.INSTANCE, name=lineage[1]) if len(lineage) > 1 else None

    # -- conditions -------------------------------------------------------------------------------------------

    def under(self, test: cst.BaseExpression, *, holds: bool, anew: bool = False) -> Env:
        """The environment where `test`, which has been evaluated, holds or does not; `anew` after the names were assigned."""
        told = bounds(test, holds=holds, read=lambda node: self.values.get(node, UNKNOWN).number)
        return self.env.guarded_by(bound for bound in told if anew or self._still_holds(bound.node))

    def _still_holds(self, node: cst.BaseExpression) -> bool:
        """Whether the name that a condition is about has not been assigned behind it: `n > 0 and (n := n - 9)`."""
        held = self.env.get(node.value) if isinstance(node, cst.Name) else None
        return held is None or held.identity is self.values.get(node, held).identity

    def evaluate_under(self, node: cst.BaseExpression, test: cst.BaseExpression, *, holds: bool) -> Value:
        """The value of `node` where `test`, which has been evaluated, holds or does not."""
        outer = self.env
        self.env = self.under(test, holds=holds)
        value = self.evaluate(node)
        self.env = self.env.told_as(outer)
        return value

    def _walrus(self, node: cst.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        if isinstance(node.target, cst.Name):
            self.env = self.env.bind(node.target.value, value)
            self.values[node.target] = value
            self.targets.add(node.target)
        return value

    def _awaited(self, node: cst.Await) -> Value:
        value = self.evaluate(node.expression)
        return value.parts[0] if value.kind is Kind.UNKNOWN and value.parts else value

    def _strings(self, node: cst.ConcatenatedString) -> Value:
        piece: cst.BaseExpression = node
        while isinstance(piece, cst.ConcatenatedString):
            self.evaluate(piece.left)
            piece = piece.right
        self.evaluate(piece)
        return literals.text(node)

    # -- containers and functions -----------------------------------------------------------------------------

    def _sequence(self, node: cst.Tuple | cst.List) -> Value:
        parts = tuple(self.evaluate(element.value) for element in node.elements)
        starred = any(isinstance(element, cst.StarredElement) for element in node.elements)
        return Value(Kind.TUPLE, parts=() if starred else parts)

    def _lambda(self, node: cst.Lambda) -> Value:
        outer = self.env
        for parameter in parameters(node.params):
            self.env = self.env.bind(parameter.name.value, Value())
        returned = self.evaluate(node.body)
        self.env = outer
        return Value(Kind.FUNCTION, parts=(returned,))

    def taken_from(self, source: cst.BaseExpression) -> Value:
        """What a loop over `source`, which was evaluated, takes out of it: `range` counts, of all else nothing is known."""
        call = self.calls.get(source)
        if call is None or call.function != "range":
            return Value()
        return Value(Kind.NUMBER, range=COUNT) if len(call.arguments) == 1 else Value(Kind.NUMBER)

    def _comprehension(self, node: cst.BaseSimpleComp | cst.DictComp) -> Value:
        outer = self.env
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            self.evaluate(clause.iter)
            self.bind_target(clause.target, self.taken_from(clause.iter))
            for condition in clause.ifs:
                self.evaluate(condition.test)
                self.env = self.under(condition.test, holds=True)
            clause = clause.inner_for_in
        if isinstance(node, cst.DictComp):
            self.evaluate(node.key)
            self.evaluate(node.value)
            element = UNKNOWN
        else:
            element = self.evaluate(node.elt)
        self.env = outer
        return Value(detached=True) if element.kind is Kind.TENSOR and element.detached else UNKNOWN

    def bind_target(self, target: cst.BaseExpression, value: Value) -> None:
        """Assign `value` to a name, an attribute, an element, or to each part of a tuple."""
        if type(target) is cst.Tuple or type(target) is cst.List:
            known = value.parts if len(value.parts) == len(target.elements) else ()
            for position, element in enumerate(target.elements):
                self.bind_target(element.value, known[position] if known else _part_of_unknown(value))
            return
        if type(target) is cst.Subscript:
            # x[mask] = 0 changes what x holds.
            self.evaluate(target)
            self.change(target.value, self._with_elements(target, value))
            self.targets.add(target)
            return
        text = dotted_text(target)
        if text is None:
            self.evaluate(target)
            return
        owner, _, attribute = text.partition(".")
        if attribute:
            self._attributes.setdefault(owner, set()).add(attribute)
        if attribute == "data" and isinstance(target, cst.Attribute):
            self.change(target.value, value.but(detached=False))
        if attribute == "requires_grad" and isinstance(target, cst.Attribute):
            self._set_gradient(target.value, detached=value.constant is False)
        self.env = self.env.bind(text, value)
        self.values[target] = self.env.get(text) or value
        self.targets.add(target)

    def _with_elements(self, target: cst.Subscript, value: Value) -> Value:
        """What `x` holds after `x[mask] = value`; `d[d == 0] = 1` leaves no 0."""
        held = self.values.get(target.value, UNKNOWN)
        index = target.slice[0].slice if len(target.slice) == 1 else None
        kept = held.range
        if isinstance(index, cst.Index):
            kept = range_under(target.value, index.value, self, holds=False)
        reach = kept.join(rounded(format_of(held.dtype), value.range))
        is_cut = held.detached and (value.detached or value.kind is Kind.NUMBER)
        filled = filled_elements(target, value, self)
        if filled is not None:
            self.calls[target] = filled
        return Value(held.kind, filled, filled, range=reach, dtype=held.dtype, detached=is_cut)


def parameters(declared: cst.Parameters) -> list[cst.Param]:
    """Every parameter, starred ones too."""
    named = [*declared.posonly_params, *declared.params, *declared.kwonly_params]
    starred = [star for star in (declared.star_arg, declared.star_kwarg) if isinstance(star, cst.Param)]
    return [*named, *starred]


_CUTTING = frozenset(f"torch.{name}" for name in ("chunk", "split", "tensor_split", "unbind"))


def _part_of_unknown(whole: Value) -> Value:
    """One of the sizes that `b, c, h, w = x.shape` unpacks, a piece of a tensor, or something unknown."""
    is_shape = whole.kind in {Kind.TUPLE, Kind.NUMBER} and whole.range == COUNT
    if whole.kind is Kind.TENSOR and whole.made_by is not None and whole.made_by.function in _CUTTING:
        return Value(Kind.TENSOR, range=whole.range, dtype=whole.dtype, detached=whole.detached)
    # What is taken out of something without a gradient has none.
    return Value(Kind.NUMBER, range=COUNT) if is_shape else Value(detached=whole.detached)


def _callable_choice(value: Value) -> Value:
    """What a value must be if an attribute of it is read: not the None of another path."""
    others = [choice for choice in value.choices if choice.kind is not Kind.NONE]
    return others[0] if len(others) == 1 else value


_HANDLERS: Mapping[type[cst.CSTNode], Callable[[Evaluator, Any], Value]] = {
    cst.Name: Evaluator._name,  # noqa: SLF001 - the table is part of the class, below it for readability
    cst.Attribute: Evaluator._attribute,  # noqa: SLF001
    cst.Call: Evaluator._call,  # noqa: SLF001
    cst.BinaryOperation: operators.binary,
    cst.UnaryOperation: operators.unary,
    cst.Subscript: operators.subscript,
    cst.Comparison: operators.comparison,
    cst.BooleanOperation: operators.boolean,
    cst.IfExp: operators.conditional,
    cst.NamedExpr: Evaluator._walrus,  # noqa: SLF001
    cst.Tuple: Evaluator._sequence,  # noqa: SLF001
    cst.List: Evaluator._sequence,  # noqa: SLF001
    cst.Lambda: Evaluator._lambda,  # noqa: SLF001
    cst.GeneratorExp: Evaluator._comprehension,  # noqa: SLF001
    cst.ListComp: Evaluator._comprehension,  # noqa: SLF001
    cst.SetComp: Evaluator._comprehension,  # noqa: SLF001
    cst.DictComp: Evaluator._comprehension,  # noqa: SLF001
    cst.Await: Evaluator._awaited,  # noqa: SLF001
    cst.Integer: lambda _, node: literals.number(node),
    cst.Float: lambda _, node: literals.number(node),
    cst.Imaginary: lambda *_: UNKNOWN,
    cst.SimpleString: lambda _, node: literals.text(node),
    cst.ConcatenatedString: Evaluator._strings,  # noqa: SLF001
}
