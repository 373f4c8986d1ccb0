"""Statistics of too few values: of none that a mask has left, of the one that a minibatch, a slice or a group may hold."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.op_graph import JOIN, PARAMETER, TUPLE, made_from
from nanlint.analysis.patterns.tensors import sliced
from nanlint.analysis.patterns.zeros import is_of_lengths
from nanlint.analysis.relations import maker, op_behind, same
from nanlint.analysis.selection import emptied_by
from nanlint.analysis.sources import suggests_mask, suggests_one_for_each_sample
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.analysis.op_graph import Op, Value

_PARTS = word_set("subscript <element> torch.split torch.chunk torch.narrow torch.index_select")
_GROUPING = torch_names("reshape Tensor.view")
_TESTS = torch_names("""
    eq ne lt le gt ge logical_and logical_or bitwise_and bitwise_or bitwise_not nonzero isnan any all
""")


SPREADS = torch_names("std var")


class Few(NamedTuple):
    """A way for a tensor to have too few elements."""

    is_ordinary: bool
    """Everyday data does it: a class that a batch lacks, the last minibatch of an epoch."""
    mask: Value | None = None
    """What selects them; None for those that were given."""
    is_by_name: bool = False
    """That it selects is only what its name suggests."""
    is_decided_elsewhere: bool = False
    """A mask from elsewhere decides, or the shape of what is given, which is rarely that of a map of 1 x 1."""


LOSSES = frozenset(
    f"torch.nn.functional.{word}"
    for word in (
        "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits",
        "binary_cross_entropy", "kl_div",
    )
)  # fmt: skip
IGNORING = torch_names("nn.functional.cross_entropy nn.functional.nll_loss")
# A loss that ignores targets, where it is made -> where reduction and ignore_index stand among the arguments, which no signature names.
LAYERS = {"torch.nn.CrossEntropyLoss": ("2", "4"), "torch.nn.NLLLoss": ("2", "4")}
# Targets that are not to be learned, by torch's own convention: all of a batch can be that. Pixels without a class: hardly all of a crop.
_MARK, _RARE_MARK = -100, 255
_DEEPEST = 4


def few_left(op: Op, operand: Value) -> Few | None:
    """How the mean loss comes to be one over nothing: of a selection that is empty, or of targets that are all ignored."""
    if not _is_mean(op):
        return None
    selected = _selected(operand)
    if selected is not None:
        return selected
    mark, target = _setting(op, "ignore_index"), op.operands.get("target")
    can_ignore = op.function in LAYERS or (op.function in IGNORING and operand is target)
    if not can_ignore or (target is not None and target.some):
        return None
    is_filled = target is not None and _is_filled_with(target, mark)
    is_all = mark is not None and target is not None and _is_nothing_but(target, mark)
    is_stated = mark is not None and not mark.assumed and (op.module is None or _says_so_when_made(op.module))
    is_marked = is_stated and mark is not None and mark.constant in {_MARK, _RARE_MARK}
    if is_all:
        return Few(is_ordinary=True)
    if (op.module is not None and (is_marked or not is_filled)) or (op.function in LAYERS and _has_some_left(op)):
        return None  # that it ignores some is told of where it is made, if that says so
    return (
        Few(is_ordinary=is_filled or (mark is not None and mark.constant == _MARK)) if is_filled or is_marked else None
    )


def _is_mean(op: Op) -> bool:
    """Whether the loss is averaged, as it is when nobody says otherwise."""
    stated = _setting(op, "reduction")
    return {"reduce", "size_average"}.isdisjoint(op.operands) and (stated is None or stated.constant in {"mean", None})


def _setting(op: Op, name: str) -> Value | None:
    """What a loss is told by its call or by its making; None for nothing."""
    places = dict(zip(("ignore_index", "reduction"), LAYERS.get(op.function, ("", "")), strict=True))
    if op.module is not None and name in op.module.keys:
        return op.module.parts[op.module.keys.index(name)]
    return op.operands.get(name) or op.operands.get(places[name])


def _has_some_left(making: Op) -> bool:
    """Whether the layer is called in the function that makes it, with targets of which some are left."""
    ops = making.scope.ops if making.scope is not None else ()
    calls = [each for each in ops if each.module is not None and each.module.op is making]
    targets = [each.operands.get("target") for each in calls]
    return bool(targets) and all(target is not None and target.some for target in targets)


def _says_so_when_made(layer: Value) -> bool:
    """Whether a loss is given its `ignore_index` where it is made."""
    made = layer.op.operands.get("stored", layer).op if layer.op is not None else None
    return made is not None and not {"ignore_index", "2"}.isdisjoint(made.operands)


def _is_nothing_but(target: Value, mark: Value) -> bool:
    """`labels * 0 - 100`, on one path at least: no target is left."""
    op = op_behind(target)
    either = op.operands.values() if op is not None and op.function == JOIN else (target,)
    return any(each.range.constant is not None and each.range.constant == mark.number for each in either)


def _is_filled_with(target: Value, mark: Value | None, depth: int = _DEEPEST) -> bool:
    """Whether targets are set to the mark here: `labels.masked_fill(labels == pad, -100)`, and of those a part."""
    part = sliced(target)
    if part is not None and part.subject is not None and depth:
        return _is_filled_with(part.subject, mark, depth - 1)
    filled = op_behind(target)
    if filled is None or not depth or filled.function not in {"torch.masked_fill", "torch.where"}:
        return False
    for name, value in filled.operands.items():
        if name in {"value", "input", "other"}:
            is_mark = value.constant == _MARK if mark is None else value.key == mark.key
            if is_mark or _is_filled_with(value, mark, depth - 1):
                return True
    return False


def few(op: Op, subject: Value, *, is_spread: bool, others: Iterable[Op]) -> Few | None:
    """How an operand comes to hold nothing, or for a spread one element alone; `others` are the operations around it."""
    along = op.operands.get("dim")
    if subject.some > is_spread:
        return None
    is_of_all = along is None or along.constant == 0
    selected = _selected(subject) if is_of_all else None
    if selected is not None:
        return selected
    if not is_spread or _is_corrected(op):
        return None
    if along is not None and _is_of_places(along):
        return Few(is_ordinary=False, is_decided_elsewhere=True)
    return _few_given(op, subject, others) if is_of_all else _few_in_groups(subject, along)


def _selected(value: Value) -> Few | None:
    """What is left of a value by a mask, one that was made of values here or one from elsewhere; a mask of lengths leaves something."""
    mask = emptied_by(value)
    if mask is not None:
        is_tested, is_counted = maker(mask, _TESTS) is not None, is_of_lengths(mask)
        return Few(is_ordinary=is_tested and not is_counted, mask=mask, is_decided_elsewhere=not is_tested)
    named = emptied_by(value, selects=suggests_mask)
    return Few(is_ordinary=False, mask=named, is_by_name=True) if named is not None else None


def _is_of_places(along: Value) -> bool:
    """`dim=(2, 3)`: over the places of a map, which may have one alone."""
    numbers = [part.number for part in along.parts]
    return len(numbers) > 1 and all(number is not None and not 0 <= number < 2 for number in numbers)


def _is_corrected(op: Op) -> bool:
    """Whether something is said about the correction other than that it is 1."""
    stated = op.operands.get("correction") or op.operands.get("unbiased")
    return stated is not None and stated.constant is not True and stated.constant is not None and stated.constant != 1


def _few_given(op: Op, subject: Value, others: Iterable[Op]) -> Few | None:
    made = op_behind(subject)
    if made is None:
        return None
    stacked = made.subject if made.function == "torch.stack" else None
    if stacked is not None and stacked.kind is TUPLE and len(stacked.parts) > 1:
        return None
    is_along_the_batch = "dim" in op.operands and (stacked is not None or made.function in {PARAMETER, JOIN})
    divides = any(other.function == "torch.div" and _is_standardised(other, op) for other in others)
    if not is_along_the_batch and not divides:
        return None
    is_scores, is_divisor = suggests_one_for_each_sample(subject), _is_divisor(op, others)
    if is_divisor and not is_scores:
        return None  # that the data is constant is likelier
    is_handed_over = made.function in _PARTS or made.function == PARAMETER
    return Few(is_ordinary=is_scores and (is_handed_over or is_divisor))


def _is_divisor(op: Op, others: Iterable[Op]) -> bool:
    """Whether something is divided by it as it is, without an eps."""
    return any(
        other.function == "torch.div" and maker(other.operands.get("other"), frozenset({op.function})) is op
        for other in others
    )


def _is_standardised(quotient: Op, spread: Op) -> bool:
    """`(x - x.mean()) / (x.std() + eps)`: the values are divided by their own spread."""
    below = op_behind(quotient.operands["other"]) if "other" in quotient.operands else None
    while (
        below is not None
        and below is not spread
        and below.function in {"torch.add", "torch.clamp", "torch.clamp_min", "torch.sqrt", "torch.maximum"}
    ):
        below = op_behind(below.subject)
    above = quotient.operands.get("input")
    centred = maker(above, "torch.sub")
    values = centred.operands.get("input") if centred is not None else above
    return below is spread and same(values, spread.subject)


def _few_in_groups(subject: Value, along: Value | None) -> Few | None:
    """`x.view(-1, n).std(1)` in groups of a size that is not written here."""
    made = made_from(subject)
    if made is None or made.function not in _GROUPING or along is None or along.constant not in {1, -1}:
        return None
    shape = made.node.args if isinstance(made.node, ast.Call) else []
    is_split = len(shape) == 2 and ast.unparse(shape[0]) == "-1" and isinstance(shape[1], ast.Name | ast.Attribute)
    return Few(is_ordinary=False) if is_split else None
