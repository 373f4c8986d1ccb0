"""What holds at one point of the code: the values of names, the guards passed, the regions around it.

An environment is never changed, only replaced, so keeping one per expression costs a reference. Binding a name copies
a few others, never all: a module of 200,000 assignments must stay linear. Names are a stack of plain dicts, newest
first; full ones are merged in pairs, as the digits of a binary counter are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.dtypes import format_of
from nanlint.facts.guards import Bound, stored, tightened
from nanlint.facts.names import dotted_text
from nanlint.facts.values import UNKNOWN, Call, Kind, Value, join
from nanlint.facts.written import text_of
from nanlint.ops.interval import INF, Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NO_GRADIENT = frozenset(
    {"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autograd.inference_mode"}
)
"""Regions in which autograd records nothing."""
_GUARDABLE = frozenset({cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BinaryOperation})

# The newest dict is copied at every binding, so it stays small.
_NEWEST = 16

_Layers = tuple[dict[str, Value], ...]


@dataclass(slots=True, eq=False)  # not frozen, as a Value is not
class Env:
    """What each name holds here, what conditions have told, and the `with` regions around."""

    layers: _Layers = ({},)
    regions: tuple[Call, ...] = ()
    guards: Mapping[str, Bound] = field(default_factory=dict)
    """The text of an expression -> what a condition has left of it."""
    guarded_kinds: frozenset[type[cst.CSTNode]] = frozenset()
    """What `guards` are about, if not names: expressions of other kinds have other texts."""

    def get(self, name: str) -> Value | None:
        """What `name` holds; None when nothing here has bound it."""
        for layer in self.layers:
            if name in layer:
                return layer[name]
        return None

    @property
    def size(self) -> int:
        """How many names there are, at most."""
        return sum(map(len, self.layers))

    def items(self) -> Iterator[tuple[str, Value]]:
        """Every name with what it holds."""
        seen: set[str] = set()
        for layer in self.layers:
            for name, value in layer.items():
                if name not in seen:
                    seen.add(name)
                    yield name, value

    def differing(self, other: Env) -> Iterable[str]:
        """The names that may hold something else in another one."""
        return _differing(self.layers, other.layers)

    def bind(self, name: str, value: Value) -> Env:
        """The environment after `name = value`; what was said of expressions with that name no longer holds."""
        guards = self.guards
        if guards and any(name in text for text in guards):
            word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
            guards = {text: bound for text, bound in guards.items() if not word.search(text)}
        # Two names hold the same unknown thing only if one was assigned from the other.
        layers = _with(self.layers, name, Value() if value is UNKNOWN else value)
        return Env(layers, self.regions, guards, self.guarded_kinds)

    def forget(self, touched: Iterable[str]) -> Env:
        """The environment after any of these names may have been assigned; under no_grad that adds no gradient."""
        env, is_recorded = self, self.is_recorded
        for name in touched:
            held = None if is_recorded else self.get(name)
            env = env.bind(name, Value(detached=held is not None and held.detached))
        return env

    def attributes_told_of(self, owner: str) -> set[str]:
        """The attributes of an object that conditions speak of."""
        attribute = re.compile(rf"(?<![\w.]){re.escape(owner)}\.(\w+)")
        return {name for text in self.guards for name in attribute.findall(text)}

    def untold(self, names: Iterable[str]) -> Env:
        """The environment after what conditions have told of these names may have changed."""
        stale = [re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)") for name in names]
        kept = {text: bound for text, bound in self.guards.items() if not any(word.search(text) for word in stale)}
        return Env(self.layers, self.regions, kept, self.guarded_kinds)

    def within(self, regions: Iterable[Call]) -> Env:
        """The same inside further `with` regions."""
        return Env(self.layers, (*self.regions, *regions), self.guards, self.guarded_kinds)

    @property
    def is_recorded(self) -> bool:
        """Whether autograd records what happens here."""
        return not self.regions or not without_gradient(self.regions)

    def in_regions_of(self, other: Env) -> Env:
        """The same inside the `with` regions of another."""
        return Env(self.layers, other.regions, self.guards, self.guarded_kinds)

    def told_as(self, other: Env) -> Env:
        """The same where conditions have told what they have told in another."""
        return Env(self.layers, self.regions, other.guards, other.guarded_kinds)

    def guarded_by(self, bounds: Iterable[Bound]) -> Env:
        """The environment where a condition has said this."""
        guards, kinds = dict(self.guards), self.guarded_kinds
        for bound in bounds:
            if type(bound.node) in _GUARDABLE:
                kinds = kinds if type(bound.node) in kinds else kinds | {type(bound.node)}
                text = text_of(bound.node)
                before = guards.get(text)
                both = Bound(bound.node, tightened(before.range, bound)) if before is not None else bound
                guards[text] = both
        return Env(self.layers, self.regions, guards, kinds)

    def guarded(self, node: cst.BaseExpression, value: Value) -> Value:
        """The value of `node` with what conditions have told about it."""
        if type(node) not in self.guarded_kinds:
            return value
        # Mostly no guard begins as the expression does, and its whole text need not be written.
        start = dotted_text(node.func) if type(node) is cst.Call else None
        if start is not None and not any(text.startswith(start) for text in self.guards):
            return value
        bound = self.guards.get(text_of(node))
        return value if bound is None else _under(value, bound)

    def _told(self, name: str) -> Value | None:
        """What `name` holds, with what conditions have told about it: after `if n == 0: n = 1` it is not 0."""
        held, bound = self.get(name), self.guards.get(name)
        return held if held is None or bound is None else _under(held, bound)

    def joined(self, other: Env, *, new_object: bool = False) -> Env:
        """What holds whichever of the two it is.

        A name that only one of them has bound holds that one's value: with the other, reading it would fail. An
        attribute may have had a value before, unless the object is new (`new_object`, in a constructor).
        """
        if self is other:
            return self
        layers = self.layers
        for name in _differing(self.layers, other.layers):
            if self.get(name) is other.get(name) and name not in self.guards and name not in other.guards:
                continue
            here, there = self._told(name), other._told(name)
            if here is not there:
                layers = _with(layers, name, _either(here, there, may_lack=new_object or "." not in name))
        guards = {
            text: Bound(bound.node, either)
            for text, bound in self.guards.items()
            if text in other.guards and not _is_anything(either := bound.range.join(other.guards[text].range))
        }
        return Env(layers, self.regions, guards, self.guarded_kinds)


def _under(value: Value, bound: Bound) -> Value:
    """The value with what a condition has told about it."""
    told = stored(bound, format_of(value.dtype)) if value.kind is Kind.TENSOR else bound
    return value.but(range=tightened(value.range, told), same_as=value.identity)


def _is_anything(left: Interval) -> bool:
    """Whether two branches of one condition together leave every value, so that nothing is told behind them."""
    return left.low == -INF and left.high == INF and not left.nonzero


def _with(layers: _Layers, name: str, value: Value) -> _Layers:
    newest = layers[0]
    if len(newest) < _NEWEST or name in newest:
        return ({**newest, name: value}, *layers[1:])
    older = list(layers[1:])
    # The newest is full. It joins the next older one as long as that is not much larger.
    while older and len(older[0]) <= 2 * len(newest):
        newest = {**older.pop(0), **newest}
    return ({name: value}, newest, *older)


def _differing(first: _Layers, second: _Layers) -> Iterable[str]:
    """The names outside the oldest dicts that the two have in common."""
    shared = 0
    while shared < min(len(first), len(second)) and first[-1 - shared] is second[-1 - shared]:
        shared += 1
    return dict.fromkeys(chain(*first[: len(first) - shared], *second[: len(second) - shared]))


def _either(here: Value | None, there: Value | None, *, may_lack: bool) -> Value:
    if here is not None and there is not None:
        return join(here, there)
    known = here or there or Value()
    return known if may_lack else join(known, Value())


def without_gradient(regions: tuple[Call, ...]) -> bool:
    """Whether the innermost region that says something about gradients switches them off."""
    off = False
    for region in regions:
        if region.function in NO_GRADIENT or region.function == "torch.set_grad_enabled":
            mode = region.arguments.get("mode") or region.arguments.get("0")
            said = mode.value if isinstance(mode, cst.Name) else ""
            off = said == "False" if region.function == "torch.set_grad_enabled" else said != "False"
        elif region.function in {"torch.enable_grad", "torch.autograd.enable_grad"}:
            off = False
    return off
