"""What rules need, in the words that stand in a file: every spelling of an operation, from the op table."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from nanlint.ops import table_arithmetic, table_structure
from nanlint.ops.names import SIGNATURES, spellings
from nanlint.rule import Need
from nanlint.source.gate import Interest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.rule import Rule

TENSOR, COMPUTED, BOUNDED = "<tensor>", "<computed>", "<bounded>"
"""Stand for whatever shows that a value is a tensor and not a number of Python's, for the result of any operation, and for that of
one of which something may be known though nothing is of its operands."""
# Of what is moved, added and subtracted nothing is known but what is known of the operands.
_TELLING_NOTHING = (
    "torch.add", "torch.sub", "torch.neg", "torch.reshape", "torch.Tensor.view", "torch.unsqueeze", "torch.squeeze", "torch.transpose",
    "torch.permute", "torch.Tensor.contiguous", "torch.Tensor.float", "torch.Tensor.double", "torch.Tensor.expand", "torch.detach",
)  # fmt: skip
# `in` and `is` have no word of their own.
_COMPARING = frozenset({"==", "!=", "<", "<=", ">", ">=", ""})


def interests(rule: Rule | type[Rule]) -> Iterator[Interest]:
    """What `rule` looks for before it can fire."""
    for need in rule.needs or (Need(rule.calls, beside=rule.beside),):
        yield Interest(
            _words(need.calls),
            _words(need.beside),
            tuple(_words(each) for each in need.beneath),
            rule=rule.code,
            along=tuple(_words(each) for each in need.along),
            unless=need.unless,
            not_named=need.not_named,
            where=need.where,
            made_by=_words(need.made_by),
            above=_words(need.above),
            named=need.named,
            form=need.form,
            spread=need.spread,
            but=need.but,
            is_recorded=need.recorded,
        )
    if rule.comparisons:
        yield Interest(rule.comparisons, rule.beside, rule=rule.code, along=(_COMPARING,), where=rule.compares)
    if rule.loops:
        yield Interest(rule.loops, is_about_all=True, rule=rule.code)


def _words(names: Iterable[str]) -> frozenset[str]:
    """The spellings of operations, the last words of dotted names, and words as they are."""
    words: set[str] = set()
    for name in names:
        if name == TENSOR:
            words |= _tensor_words()
        elif name == COMPUTED:
            words |= _computed_words()
        elif name == BOUNDED:
            words |= _computed_words().difference(*map(spellings, _TELLING_NOTHING))
        elif name in SIGNATURES:
            words |= spellings(name)
        else:
            words.add(name.rpartition(".")[2])
    return frozenset(words)


@cache
def _tensor_words() -> frozenset[str]:
    found = {"Tensor", "FloatTensor", "LongTensor", "BoolTensor", "Parameter", "grad", "register_buffer"}
    for name in SIGNATURES:
        found |= {word for word in spellings(name) if word.isidentifier()}
    return frozenset(found)


@cache
def _computed_words() -> frozenset[str]:
    return frozenset().union(*map(spellings, SIGNATURES))


@cache
def carrying_words() -> frozenset[str]:
    """The words of operations that hand on what they are given: views, selections, elementwise arithmetic, constants."""
    found = {"float", "int", "max", "min", "tensor", "full", "full_like", "new_tensor", "new_full", "as_tensor"}
    for table in (
        table_arithmetic.ELEMENTWISE,
        table_structure.SELECTION,
        table_structure.TESTS,
        table_structure.SHAPES,
    ):
        for line in table.strip().splitlines():
            found |= spellings(line.partition("(")[0].strip())
    return frozenset(found - {"size", "numel", "dim"})
