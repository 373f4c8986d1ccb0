"""What the name of something from outside suggests about it. A name proves nothing: it may add a finding at the lowest level."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanlint.analysis.name_hints import (
    ADVANTAGES,
    ATTENTION_SCORES,
    CAUSAL,
    GRADIENTS,
    KEYS,
    MASKING,
    MASKS,
    NUMBERED,
    NUMBERING,
    PROJECTIONS,
    SCORES,
    SEEN,
    TEMPERATURES,
    VALUES,
)
from nanlint.analysis.op_graph import ATTRIBUTE, CALL, ELEMENT, NUMBER, PARAMETER, TUPLE
from nanlint.analysis.relations import op_behind

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Value


def suggests_count(value: Value) -> bool:
    """`num_boxes`, `n_pos`: how many there are of something that a batch may lack, counted elsewhere."""
    op = op_behind(value)
    if op is None or op.function not in {PARAMETER, ATTRIBUTE}:
        return False
    words = set(re.findall(r"[a-z]+", op.where.rpartition(".")[2].lower()))
    return not words.isdisjoint(NUMBERING) and not words.isdisjoint(NUMBERED | SEEN) and "classes" not in words


def suggests_mask(value: Value) -> bool:
    """`valid_mask`: truth values from elsewhere, which may all be false."""
    op = op_behind(value)
    if op is None or value.kind is NUMBER or value.dtype or op.function not in {PARAMETER, ATTRIBUTE, ELEMENT}:
        return False
    return not MASKS.isdisjoint(re.findall(r"[a-z]+", op.where.rpartition(".")[2].lower()))


def suggests_one_for_each_sample(value: Value, depth: int = 4) -> bool:
    """`advantages`, `rewards`: a number for each sample, so that of a minibatch of one there is one."""
    op = op_behind(value)
    if op is None or not depth:
        return False
    words = set(re.findall(r"[a-z]+", op.where.lower())) if op.function in {PARAMETER, ATTRIBUTE, ELEMENT} else set()
    return not words.isdisjoint(SCORES | ADVANTAGES) or (
        op.subject is not None and suggests_one_for_each_sample(op.subject, depth - 1)
    )


def suggests_temperature(text: str) -> bool:
    """`self.tau`, `args.temperature`, `temp[:, None]`: what logits are divided by."""
    return not TEMPERATURES.isdisjoint(re.findall(r"[a-z]+", text.partition("[")[0].rpartition(".")[2].lower()))


def suggests_gradient(value: Value | None) -> bool:
    """`p.grad`, `grads`."""
    return not _given_words(value).isdisjoint(GRADIENTS)


def suggests_keys(value: Value) -> bool:
    """`k`, `self.key(x)`: keys of an attention."""
    return not _given_words(value).isdisjoint(KEYS)


def suggests_values(value: Value) -> bool:
    """`v`, `value`: values of an attention, no weight of a layer."""
    words = _given_words(value)
    return not words.isdisjoint(VALUES) and words.isdisjoint(PROJECTIONS)


def suggests_masking(value: Value) -> bool:
    """`attention_mask`, `pad`: what is multiplied with a large number and added."""
    return not _given_words(value).isdisjoint(MASKING)


def suggests_scores(value: Value) -> bool:
    """`attn`, `logits`: what a softmax is taken of."""
    return not _given_words(value).isdisjoint(ATTENTION_SCORES)


def _given_words(value: Value | None, depth: int = 4) -> set[str]:
    """The words of the names of what came in from outside, on its own or in a list that is joined; none for what was computed here."""
    op = op_behind(value)
    if op is None or value is None or not depth:
        return set()
    if op.function in {PARAMETER, ATTRIBUTE, ELEMENT}:
        return set(re.findall(r"[a-z]+", op.where.rpartition(".")[2].lower()))
    is_joined = op.function in {"torch.cat", "torch.stack"} or op.where in {"comprehension", "sequence"}
    is_repeated = op.subject is not None and op.subject.kind is TUPLE
    inner = (*op.operands.values(), *value.parts) if is_joined or is_repeated else value.parts
    return {word for each in inner for word in _given_words(each, depth - 1)}


def suggests_causal(value: Value) -> bool:
    """`causal_mask`, `generate_square_subsequent_mask(n)`: it hides what comes later, and never a position from itself."""
    return not _words(value).isdisjoint(CAUSAL)


def _words(value: Value) -> set[str]:
    """The words of the name of something from outside: a parameter, an attribute, an unknown function that was called."""
    op = op_behind(value)
    if op is None or op.function not in {PARAMETER, ATTRIBUTE, ELEMENT, CALL}:
        return set()
    return set(re.findall(r"[a-z]+", op.where.lower()))
