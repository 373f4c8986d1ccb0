"""What a mask marks, and so how ordinary a batch is in which it marks nothing.

A test on values (`labels > 0`, `overlap >= 0.5`) fails for every element of some batch. A test for padding does not: no
sequence is padding alone. A mask from elsewhere is known by its name, which tells little.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.analysis import name_hints as named
from nanlint.facts.context import ancestors
from nanlint.facts.given import is_given
from nanlint.facts.names import names_in
from nanlint.facts.naming import is_masked_mean, loop_source_of, words_of
from nanlint.facts.parts import root
from nanlint.facts.relations import DIAGONALS, same
from nanlint.facts.values import UNKNOWN, Kind, Value
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call


class Chance(enum.IntEnum):
    """How ordinary an input is that makes something happen."""

    NONE = 0
    DOUBTFUL = 1
    """By what it is called, or by what only its maker knows."""
    ORDINARY = 2


COMPARISONS = frozenset(f"torch.{name}" for name in ("eq", "ne", "gt", "ge", "lt", "le", "greater", "less", "isin"))
_ONE_HOT = "torch.nn.functional.one_hot"
# Of two dimensions or more these are never the last one.
_NOT_LAST = frozenset({0, -2})
# Shares of a whole: not all of a row are 0, and picking the largest of them leaves some.
_SHARES = frozenset(
    {
        _ONE_HOT,
        "torch.softmax",
        "torch.nn.functional.gumbel_softmax",
        "torch.nn.functional.softmin",
        "torch.ones",
        "torch.ones_like",
    }
)
_PICKS = frozenset({"torch.topk", "torch.sort", "torch.gather", "torch.max", "torch.amax", "torch.sum", "torch.mul"})
# What a test against these leaves is never nothing: `x == x.max()`, `x >= x.mean()`.
_OWN = frozenset(
    f"torch.{name}" for name in ("max", "min", "amax", "amin", "mean", "median", "quantile", "sort", "topk", "kthvalue")
)
# They cut a mask down, so that nothing may be left of one that is never empty by itself.
_CUTTING = frozenset(
    {"torch.mul", "torch.logical_and", "torch.bitwise_and", "torch.masked_fill", "torch.Tensor.fill_diagonal_", "torch.triu", "torch.tril"}
)  # fmt: skip
# The places at which a test holds, called indices as others are; and what is given a size, which tells nothing of what is in it.
_PLACES, _SIZED = frozenset({"torch.nonzero", "torch.where", "torch.argwhere"}), frozenset({"torch.eye", "torch.ones", "torch.zeros"})  # fmt: skip
# The places of labels among those that occur, and what an estimator calls the classes that it has seen.
_INVERSE, _FITTED = ("return_inverse",), "classes_"
# Labels that are not known.
_MISSING = "torch.isnan"
# Labels of prompts and of tokens that are not to be learned.
IGNORED = -100
# A mask that takes more than this to make is not looked into further.
_MOST_EXPRESSIONS = 60
_DEEPEST = 12


def emptiness(mask: cst.BaseExpression | None, evaluator: Evaluator) -> Chance:
    """How ordinary a batch is in which `mask` holds no True."""
    if mask is None or is_of_shares(mask, evaluator) or not named.BINS.isdisjoint(words_of(mask)):
        return Chance.NONE
    tests: list[cst.BaseExpression] = []
    origin = evaluator.values.get(mask, UNKNOWN).origin
    is_padding = (origin is None or origin.function not in _PLACES) and _is_of_sequences(words_of(mask))
    cuts: list[cst.BaseExpression] = []
    for inner in behind(mask, evaluator):
        is_padding = is_padding or not named.LENGTHS.isdisjoint(words_of(inner))
        call = evaluator.calls.get(inner)
        if call is not None and (call.function in _CUTTING or _takes_diagonal(call, evaluator)):
            cuts.append(inner)
        if _asks_for_missing(call, evaluator) or isinstance(inner, cst.Comparison) or _is_comparison(inner, evaluator):
            tests.append(inner)
    # Every label of a batch can be one that is to be ignored, padded or not.
    if any(_asks_for_ignored(test, evaluator) for test in tests):
        return Chance.ORDINARY
    if is_padding or any(_is_of_tokens(test, evaluator) for test in tests):
        return Chance.NONE
    if not tests:
        return _rareness(mask, evaluator)
    if any(_keeps_one(test, evaluator) for test in tests):
        # What the test is made of was cut before the question was asked.
        tested = {inner for test in tests for inner in behind(test, evaluator)}
        return Chance.NONE if tested.issuperset(cuts) else Chance.ORDINARY
    is_doubtful = _is_random(tests, evaluator) or all(_is_of_two(test, evaluator) for test in tests)
    return Chance.DOUBTFUL if is_doubtful else Chance.ORDINARY


def _rareness(mask: cst.BaseExpression, evaluator: Evaluator) -> Chance:
    """How ordinary a batch without any is, by what the mask is called; some node of a graph is alone unless it is its own neighbour."""
    words = set(words_of(mask))
    if not named.ADJACENCIES.isdisjoint(words):
        return Chance.NONE if evaluator.parsed.chunk.mentions(named.LOOPS) else Chance.ORDINARY
    if named.MASKS.isdisjoint(words) or not named.SPLITS.isdisjoint(words):
        return Chance.NONE
    is_rare = not named.RARE.isdisjoint(words) or (
        is_masked_mean(evaluator.parsed.chunk.name) and is_given(mask, evaluator)
    )
    return Chance.ORDINARY if is_rare and not words.isdisjoint({"mask", "masks"}) else Chance.DOUBTFUL


def _asks_for_missing(call: Call | None, evaluator: Evaluator) -> bool:
    """`labels.isnan()`; of what was computed here, as a score, it is a repair."""
    if call is None or call.function != _MISSING or call.subject is None:
        return False
    return evaluator.values.get(call.subject, UNKNOWN).origin is None


def _takes_diagonal(call: Call, evaluator: Evaluator) -> bool:
    """`same - torch.eye(n)`: what is equal to itself alone is not counted."""
    other = call.arguments.get("other") if call.function == "torch.sub" else None
    taken = evaluator.values.get(other, UNKNOWN) if other is not None else UNKNOWN
    is_identity = taken.origin is not None and taken.origin.function in DIAGONALS
    return is_identity and taken.range.integer and taken.range.high == 1


def _asks_for_ignored(test: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`labels != -100`, `labels != self.ignore_index`."""
    sides = [side for side in _sides(test, evaluator) if side is not None]
    return any(
        evaluator.values.get(side, UNKNOWN).number == IGNORED or {"ignore", "index"} <= set(words_of(side))
        for side in sides
    )


def _is_of_two(test: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`found == wanted`: whether two tensors agree somewhere is known to their makers."""
    is_equal = (
        isinstance(test.comparisons[0].operator, cst.Equal)
        if isinstance(test, cst.Comparison)
        else evaluator.calls[test].function == "torch.eq"
    )
    sides = [evaluator.values.get(side, UNKNOWN).kind for side in _sides(test, evaluator) if side is not None]
    return is_equal and sides == [Kind.TENSOR, Kind.TENSOR]


def _is_of_sequences(words: tuple[str, ...]) -> bool:
    return not named.SEQUENCES.isdisjoint(words) or ("mask" in words and not named.LETTERS.isdisjoint(words))


def _is_of_tokens(test: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`ids != pad`, `item_seq > 0`."""
    sides = (root(side, evaluator) for side in _sides(test, evaluator) if side is not None)
    return any(_is_of_sequences(words_of(side)) for side in sides)


def behind(node: cst.BaseExpression, evaluator: Evaluator) -> Iterator[cst.BaseExpression]:
    """The names, attributes, calls, operations and comparisons that `node` is made of, in this chunk."""
    waiting: list[cst.CSTNode] = [node]
    seen: set[cst.CSTNode] = set()
    places: set[cst.CSTNode] = set()
    while waiting and len(seen) < _MOST_EXPRESSIONS:
        current = waiting.pop()
        for inner in walk(current):
            # From where to where a stretch goes tells nothing of what is in it.
            if type(inner) is cst.Slice:
                places.update(walk(inner))
            if type(inner) not in _LOOKED_AT or inner in seen or inner in places:
                continue
            seen.add(inner)
            yield inner  # type: ignore[misc] # each of these is an expression
            places.update(_places(evaluator.calls.get(inner)))
            makers = _makers(evaluator.values.get(inner, UNKNOWN))
            waiting.extend(maker for maker in makers if maker not in seen and maker in evaluator.values)


def _places(call: Call | None) -> Iterator[cst.CSTNode]:
    """What says where a scatter puts something, or how large it is, which tells nothing of what that is."""
    if call is None or call.function not in _SIZED | {"torch.scatter"}:
        return iter(())
    told = call.arguments.values() if call.function in _SIZED else [call.arguments.get("index")]
    return (inner for each in told if each is not None for inner in walk(each))


def _makers(value: Value) -> list[cst.CSTNode]:
    return [choice.made_by.node for choice in value.possible if choice.made_by is not None]


def _keeps_one(test: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`x == x.max()`, `labels == labels.T` and `probs > 0` hold somewhere, whatever x, the labels and the probabilities are."""
    left, right = _sides(test, evaluator)
    if left is None or right is None:
        return False
    if not named.PROBABILITIES.isdisjoint(words_of(left)) and evaluator.values.get(right, UNKNOWN).number == 0:
        return True
    for one, other in ((left, right), (right, left)):
        calls = (evaluator.calls.get(inner) for inner in behind(other, evaluator))
        if any(call is not None and call.function in _OWN and same(call.subject, one, evaluator) for call in calls):
            return True
    if any(_runs_over_what_occurs(side, test, evaluator) for side in (left, right)):
        return True
    if _is_below_its_largest(left, evaluator):
        return True
    one, other = root(left, evaluator), root(right, evaluator)
    return same(one, other, evaluator) and not isinstance(one, cst.Call)


def _is_below_its_largest(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`x - x.max()` is 0 somewhere, which a test for more than something negative holds for."""
    less = evaluator.values.get(node, UNKNOWN).origin
    other = less.arguments.get("other") if less is not None and less.function == "torch.sub" else None
    largest = evaluator.values.get(other, UNKNOWN).origin if other is not None else None
    is_largest = largest is not None and largest.function in {"torch.max", "torch.amax"}
    return is_largest and less is not None and same(largest.subject, less.subject, evaluator)  # type: ignore[union-attr]


def are_of_one_thing(counts: list[cst.BaseExpression], evaluator: Evaluator) -> bool:
    """Whether all of them count elements of one tensor, each by one test of its own: positives and negatives are everything."""
    tested: list[cst.BaseExpression] = []
    asked: set[cst.BaseExpression] = set()
    for count in counts:
        inside = list(behind(count, evaluator))
        tests = [each for each in inside if isinstance(each, cst.Comparison) or _is_comparison(each, evaluator)]
        left = _sides(tests[0], evaluator)[0] if len(tests) == 1 else None
        if left is None:
            return False
        tested.append(left)
        asked.add(tests[0])
    return len(asked) == len(counts) and all(same(tested[0], other, evaluator) for other in tested)


def _is_comparison(node: cst.BaseExpression, evaluator: Evaluator) -> bool:
    call = evaluator.calls.get(node)
    return call is not None and call.function in COMPARISONS


def _runs_over_what_occurs(side: cst.BaseExpression, test: cst.BaseExpression, evaluator: Evaluator) -> bool:
    """`for c in labels.unique(): mask = labels == c`: each c is that of some element, as are places in what was unique."""
    source = loop_source_of(side, ancestors(test, evaluator.parsed.parents)) if isinstance(side, cst.Name) else None
    if source is None:
        return False
    if evaluator.parsed.chunk.mentions(_INVERSE) or _FITTED in names_in(source):
        return True
    words = {word for inner in behind(source, evaluator) for word in words_of(inner)}
    return not named.OCCURRING.isdisjoint(words)


def _sides(
    test: cst.BaseExpression, evaluator: Evaluator
) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None]:
    if isinstance(test, cst.Comparison):
        return test.left, test.comparisons[0].comparator
    arguments = evaluator.calls[test].arguments
    return arguments.get("input"), arguments.get("other")


def _is_random(tests: list[cst.BaseExpression], evaluator: Evaluator) -> bool:
    """A draw (`torch.rand(n) < p`) leaves nothing if n is small or p is."""
    return any(not named.RANDOM.isdisjoint(words_of(inner)) for test in tests for inner in behind(test, evaluator))


def is_of_shares(node: cst.BaseExpression | None, evaluator: Evaluator) -> bool:
    """A softmax, or the largest values of one, or a part of it."""
    value = evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    origin = value.origin
    for _ in range(_DEEPEST):
        if origin is None or origin.function not in _PICKS or origin.subject is None:
            break
        origin = evaluator.values.get(origin.subject, UNKNOWN).origin
    return origin is not None and origin.function in _SHARES


def classes_counted(call: Call, evaluator: Evaluator) -> Call | None:
    """The one_hot of `one_hot(labels).sum(0)`, which is how often each class occurs; over its last dimension it is 1."""
    one_hot = evaluator.values.get(call.subject, UNKNOWN).origin if call.subject is not None else None
    dim = call.arguments.get("dim")
    is_count = dim is not None and evaluator.values.get(dim, UNKNOWN).number in _NOT_LAST
    return one_hot if is_count and one_hot is not None and one_hot.function == _ONE_HOT else None


_LOOKED_AT = frozenset({cst.Name, cst.Attribute, cst.Call, cst.Comparison, cst.BinaryOperation, cst.UnaryOperation})
