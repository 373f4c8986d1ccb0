"""Whether a value came into a function from outside, or was computed there.

What a function is given can be anything its callers have: a silent clip, a constant image, a batch of one. What it
computed has passed through operations that tell more than its name does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.calculate import VIEWS
from nanlint.facts.context import ancestors
from nanlint.facts.evaluate import parameters
from nanlint.facts.values import UNKNOWN

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator

# Data is the data that it was when it becomes a tensor.
CONVERSIONS = frozenset({"torch.tensor", "torch.as_tensor", "torch.from_numpy"})
_DEEPEST = 8


def is_given(node: cst.BaseExpression, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `node` is a parameter, what a loop runs over, or an attribute, an item or a view of such a thing."""
    if depth == _DEEPEST:
        return False
    made_by = evaluator.values.get(node, UNKNOWN).made_by
    if made_by is not None:
        inside = made_by.receiver or made_by.subject
        is_part = made_by.function in VIEWS | CONVERSIONS or made_by.function in {"subscript", ".get"}
        return is_part and inside is not None and is_given(inside, evaluator, depth + 1)
    if isinstance(node, (cst.Attribute, cst.Subscript)):
        return is_given(node.value, evaluator, depth + 1)
    return isinstance(node, cst.Name) and (_is_parameter(node, evaluator) or _is_read_off(node, evaluator, depth))


def _is_parameter(name: cst.Name, evaluator: Evaluator) -> bool:
    """Whether a function around declares it. What an object keeps (`self.x`) is not given with a call."""
    for around in ancestors(name, evaluator.parsed.parents):
        if isinstance(around, (cst.FunctionDef, cst.Lambda)):
            names = [parameter.name.value for parameter in parameters(around.params)]
            if name.value in names:
                return name.value not in {"self", "cls"}
    return False


def _is_read_off(name: cst.Name, evaluator: Evaluator, depth: int) -> bool:
    """Whether the name was assigned an attribute or an item (`advantages = batch.advantages`), or is set by a loop."""
    held = evaluator.values.get(name, UNKNOWN).identity
    # They come in no order, so each of them is asked.
    return any(
        _is_set_so(target, evaluator, depth)
        for target in evaluator.targets_called(name.value)
        if evaluator.values.get(target, UNKNOWN).identity is held
    )


def assigned(node: cst.BaseExpression, evaluator: Evaluator) -> cst.BaseExpression:
    """What a name was assigned, as it is written (`x.shape[0]` of `n = x.shape[0]`); `node` itself for anything else."""
    if not isinstance(node, cst.Name):
        return node
    held = evaluator.values.get(node, UNKNOWN).identity
    for target in evaluator.targets_called(node.value):
        around = evaluator.parsed.parents.get(evaluator.parsed.parents.get(target, target))
        if isinstance(around, cst.Assign) and evaluator.values.get(target, UNKNOWN).identity is held:
            return around.value
    return node


def _is_set_so(target: cst.Name, evaluator: Evaluator, depth: int) -> bool:
    below: cst.CSTNode = target
    for around in ancestors(target, evaluator.parsed.parents):
        if isinstance(around, (cst.For, cst.CompFor)):
            return around.target is below
        if isinstance(around, cst.Assign):
            return _is_assigned_given(target, around, evaluator, depth)
        if isinstance(around, cst.BaseSmallStatement):
            return False
        below = around
    return False


def _is_assigned_given(target: cst.Name, assign: cst.Assign, evaluator: Evaluator, depth: int) -> bool:
    value = assign.value
    written = assign.targets[0].target
    # `pos, face = data.pos, data.face`
    if isinstance(value, cst.Tuple) and isinstance(written, cst.Tuple) and len(value.elements) == len(written.elements):
        places = [element.value is target for element in written.elements]
        value = value.elements[places.index(True)].value if True in places else value
    return isinstance(value, (cst.Attribute, cst.Subscript, cst.Name)) and is_given(value, evaluator, depth + 1)
