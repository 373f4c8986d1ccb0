"""What holds at one point of the code: the values of names, the guards passed, the regions around it.

An environment is never changed, only replaced, so keeping one per expression costs a reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import libcst as cst

from nanlint.facts.guards import Bound, tightened
from nanlint.facts.names import dotted_text
from nanlint.facts.values import UNKNOWN, Call, Value, join

_WRITER = cst.Module([])
_SPACE = re.compile(r"\s+")
_GUARDABLE = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BinaryOperation)


@dataclass(frozen=True, slots=True)
class Env:
    """What each name holds here, what conditions have told, and the `with` regions around."""

    names: Mapping[str, Value] = field(default_factory=dict)
    regions: tuple[Call, ...] = ()
    guards: Mapping[str, Bound] = field(default_factory=dict)
    """The text of an expression -> what a condition has left of it."""

    def bind(self, name: str, value: Value) -> Env:
        """The environment after `name = value`; what was said of expressions with that name no longer holds."""
        guards = self.guards
        if guards:
            word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
            guards = {text: bound for text, bound in guards.items() if not word.search(text)}
        return Env({**self.names, name: value}, self.regions, guards)

    def forget(self, touched: Iterable[str]) -> Env:
        """The environment after any of these names may have been assigned."""
        env = self
        for name in touched:
            env = env.bind(name, Value())
        return env

    def within(self, regions: Iterable[Call]) -> Env:
        """The same inside further `with` regions."""
        return replace(self, regions=(*self.regions, *regions))

    def guarded_by(self, bounds: Iterable[Bound]) -> Env:
        """The environment where a condition has said this."""
        guards = dict(self.guards)
        for bound in bounds:
            if isinstance(bound.node, _GUARDABLE):
                text = text_of(bound.node)
                before = guards.get(text)
                both = Bound(bound.node, tightened(before.range, bound)) if before is not None else bound
                guards[text] = both
        return replace(self, guards=guards)

    def guarded(self, node: cst.BaseExpression, value: Value) -> Value:
        """The value of `node` with what conditions have told about it."""
        if not isinstance(node, _GUARDABLE):
            return value
        bound = self.guards.get(text_of(node))
        if bound is None:
            return value
        return replace(value, range=tightened(value.range, bound), same_as=value.identity)

    def joined(self, other: Env) -> Env:
        """What holds whichever of the two it is."""
        if self is other:
            return self
        names = dict(self.names)
        if self.names is not other.names:
            names = dict.fromkeys((*self.names, *other.names), UNKNOWN)
            for name in self.names.keys() & other.names.keys():
                names[name] = join(self.names[name], other.names[name])
        guards = {
            text: Bound(bound.node, bound.range.join(other.guards[text].range))
            for text, bound in self.guards.items()
            if text in other.guards
        }
        return Env(names, self.regions, guards)


def text_of(node: cst.BaseExpression) -> str:
    """The text of an expression by which it is recognised again: without white space and outer parentheses."""
    dotted = dotted_text(node)
    if dotted is not None:
        return dotted
    text = _SPACE.sub("", _WRITER.code_for_node(node))
    return text[1:-1] if getattr(node, "lpar", ()) else text
