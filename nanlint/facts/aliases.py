"""Which names hold one thing: what is changed in place under one of them changes under all.

Two names hold the same if one was assigned from the other, is a view of it, or is a part of it. A copy (`x.clone()`) counts as
well; of what may or may not have changed, both is true afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.facts.calculate import VIEWS
from nanlint.facts.values import UNKNOWN, Kind, Value, join
from nanlint.ops.names import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import libcst as cst

    from nanlint.facts.environment import Env

_PARTS = VIEWS | {"subscript", METHODS["requires_grad_"], METHODS["numpy"]}
# Deeper than people nest.
_DEEPEST_PART = 6
# Past so many names, as in a generated module, in-place changes through a second name go unnoticed.
_SEARCHED_NAMES = 2000


def changed(env: Env, before: Value, now: Value, values: Mapping[cst.CSTNode, Value]) -> dict[str, Value]:
    """What each name holds after what `before` is was changed in place to `now`."""
    if before is UNKNOWN or env.size > _SEARCHED_NAMES:
        return {}
    itself = {id(before.identity)}
    maybe = {id(choice.identity) for choice in before.choices}
    maybe |= {id(whole.identity) for choice in before.possible for whole in _wholes_of(choice, values)}
    found: dict[str, Value] = {}
    for name, held in env.items():
        if held.kind is Kind.NUMBER:
            continue
        if id(held.identity) in itself:
            found[name] = now if held is before and held.kind is Kind.TENSOR else join(held, now)
        elif id(held.identity) in maybe:
            found[name] = join(held, now)
        elif held.kind is Kind.TUPLE and any(id(part.identity) in itself for part in held.parts):
            found[name] = held.but(parts=())
    return found


def other_names_of(name: str, env: Env, values: Mapping[cst.CSTNode, Value]) -> set[str]:
    """The names that hold what `name` holds, a view of it, or what it is a part of; `name` is one of them."""
    held = env.get(name)
    if held is None or held.kind is Kind.NUMBER or env.size > _SEARCHED_NAMES:
        return set()
    things = (held, *held.choices, *(whole for choice in held.possible for whole in _wholes_of(choice, values)))
    same = {id(value.identity) for value in things}
    return {other for other, value in env.items() if value.kind is not Kind.NUMBER and id(value.identity) in same}


def _wholes_of(part: Value, values: Mapping[cst.CSTNode, Value]) -> Iterator[Value]:
    """What `part` is a part or a view of: `x` of `x[0]`, which changes with it."""
    for _ in range(_DEEPEST_PART):
        made_by = part.made_by
        if made_by is None or made_by.subject is None or made_by.function not in _PARTS:
            return
        part = values.get(made_by.subject, UNKNOWN)
        if part is not UNKNOWN:
            yield part
