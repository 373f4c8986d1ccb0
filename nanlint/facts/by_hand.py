"""Functions that are written out with exponentials: which one an expression is, and the exponentials in it.

`log(sum(exp(x)))` is a logsumexp, `exp(x) / sum(exp(x))` a softmax, whatever statements the parts are spread over.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from nanlint.facts.context import ancestors
from nanlint.facts.relations import same
from nanlint.facts.values import UNKNOWN, Call
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator

Node = cst.BaseExpression | None

EXP, EXPM1 = "torch.exp", "torch.expm1"
SOFTPLUS, SIGMOID, TANH = "torch.nn.functional.softplus", "torch.sigmoid", "torch.tanh"
LOGSUMEXP, LOGADDEXP, SOFTMAX = "torch.logsumexp", "torch.logaddexp", "torch.softmax"
LOGCUMSUMEXP = "torch.logcumsumexp"
_LOGS = frozenset({"torch.log", "torch.log1p"})
_QUOTIENTS = frozenset({"torch.div", "torch.reciprocal"})
# Of exponentials, and what the logarithm of it is.
_TOTALS = {"torch.sum": LOGSUMEXP, "torch.cumsum": LOGCUMSUMEXP, "torch.mean": ""}
# How many names away the exponential may stand from the sum that holds it.
_DEEPEST = 4


class ByHand(NamedTuple):
    """A function by hand. `function` is the operation that computes it, empty where there is none."""

    function: str
    exps: tuple[Call, ...]
    total: Call | None = None
    """The sum over the exponentials."""
    falls: bool = False
    """Whether it is the function of the negated exponent: 1 / (1 + exp(x)) is sigmoid(-x)."""
    only_backward: bool = False
    """Whether an infinite exponential leaves the forward finite."""
    is_inverse: bool = False
    """Whether it is log(exp(x) - 1), the inverse of softplus."""
    is_share: bool = False
    """Whether it is a quotient of exponentials."""
    is_plain: bool = False
    """Whether no view, part or cast stands between its operations."""

    @property
    def needs_mass(self) -> bool:
        """Whether it breaks as well where every exponential is 0."""
        return self.function in {LOGSUMEXP, LOGCUMSUMEXP, LOGADDEXP, SOFTMAX}


@lru_cache(4096)  # an exponential is looked for in each logarithm and quotient of the function
def by_hand(call: Call, evaluator: Evaluator) -> ByHand | None:
    """The function that `call`, a logarithm or a quotient, ends; None if it is no such."""
    look = _Look(evaluator)
    found = look.ended_by(call)
    if found is None:
        return None
    # What an inner function returns was made of other operands at each of its calls; those of a lambda are unknown.
    around = look.function_around(call.node)
    is_here = not isinstance(around, cst.Lambda) and all(look.function_around(exp.node) is around for exp in found.exps)
    if not is_here:
        return None
    return found._replace(is_plain=_Look(evaluator, strict=True).ended_by(call) == found)


@lru_cache(1)
def exponentials_by_hand(evaluator: Evaluator) -> frozenset[Call]:
    """The exponentials of a chunk that are part of a function that is written out."""
    found = (by_hand(call, evaluator) for call in evaluator.calls.values() if call.function in _LOGS | _QUOTIENTS)
    return frozenset(exp for shape in found if shape is not None for exp in shape.exps)


class _Look(NamedTuple):
    """One look at an expression; a strict one does not see through views and casts."""

    evaluator: Evaluator
    strict: bool = False

    def ended_by(self, call: Call) -> ByHand | None:
        """The function that `call` is the last operation of."""
        if call.function in _LOGS:
            return self.logarithm(call)
        if call.function not in _QUOTIENTS:
            return None
        if call.function == "torch.reciprocal":
            return self.quotient(None, call.subject)
        return self.quotient(call.subject, call.arguments.get("other"))

    def function_around(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The innermost function, or lambda, that `node` stands in."""
        around = ancestors(node, self.evaluator.parsed.parents)
        return next((each for each in around if isinstance(each, (cst.FunctionDef, cst.Lambda))), None)

    def origin(self, node: Node, *functions: str) -> Call | None:
        """The operation behind `node`, if it is one of `functions`."""
        value = self.evaluator.values.get(node, UNKNOWN) if node is not None else UNKNOWN
        # `x.T` is what x is, and the same as it.
        made_by = value.made_by if value.same_as is None else None
        origin = made_by if self.strict else value.origin
        return origin if origin is not None and origin.function in functions else None

    def without_constant(self, call: Call) -> tuple[Node, float | None]:
        """The other term of a sum with a constant, and that constant; the term is None if there is no constant."""
        first, second = call.subject, call.arguments.get("other")
        for term, other in ((first, second), (second, first)):
            number = self.evaluator.values.get(other, UNKNOWN).number if other is not None else None
            if number is not None:
                return term, number
        return None, None

    def logarithm(self, call: Call) -> ByHand | None:
        inside, added = call.subject, 1.0 if call.function == "torch.log1p" else 0.0
        plus = self.origin(inside, "torch.add")
        if plus is not None:
            one, two = (self.origin(plus.arguments.get(name), EXP) for name in ("input", "other"))
            if one is not None and two is not None and not added:
                return ByHand(LOGADDEXP, (one, two))
            inside, number = self.without_constant(plus)
            added += number or 0.0
        exp = self.origin(inside, EXP)
        if exp is not None and added:
            return ByHand(SOFTPLUS if added == 1 else "", (exp,))
        total = self.origin(inside, *_TOTALS)
        exp = self.origin(total.subject, EXP) if total is not None else None
        if exp is not None and total is not None:
            return ByHand(_TOTALS[total.function] if not added else "", (exp,), total)
        return self._logarithm_of_difference(inside)

    def _logarithm_of_difference(self, inside: Node) -> ByHand | None:
        """log(exp(x) - 1)."""
        less = self.origin(inside, "torch.sub")
        exp = self.origin(less.subject, EXP) if less is not None else self.origin(inside, EXPM1)
        one = less.arguments.get("other") if less is not None else None
        is_one = less is None or (one is not None and self.evaluator.values.get(one, UNKNOWN).number == 1)
        return ByHand("", (exp,), is_inverse=True) if exp is not None and is_one else None

    def quotient(self, part: Node, whole: Node) -> ByHand | None:
        exp = self.origin(part, EXP)
        if exp is not None:
            return self._share(exp, part, whole)
        below, above = self.origin(whole, "torch.add"), self.origin(part, "torch.sub")
        if above is not None and below is not None:
            names = ("input", "other")
            one, two = (self.origin(above.arguments.get(name), EXP) for name in names)
            if (
                one
                and two
                and all(
                    self._is_like(each, below.arguments.get(name)) for each, name in zip((one, two), names, strict=True)
                )
            ):
                minus = self.origin(two.subject, "torch.neg")
                is_tanh = minus is not None and same(minus.subject, one.subject, self.evaluator)
                return ByHand(TANH if is_tanh else "", (one, two), is_share=True)
        if below is None:
            return None
        term, number = self.without_constant(below)
        exp = self.origin(term, EXP)
        if exp is None or number != 1:
            return None
        is_one = part is None or self.evaluator.values.get(part, UNKNOWN).number == 1
        return ByHand(SIGMOID if is_one else "", (exp,), falls=True, only_backward=True)

    def _share(self, exp: Call, part: Node, whole: Node) -> ByHand | None:
        total = self.origin(whole, "torch.sum")
        if total is not None and self._is_like(exp, total.subject):
            return ByHand(SOFTMAX, (exp,), total)
        plus = self.origin(whole, "torch.add")
        term, number = self.without_constant(plus) if plus is not None else (None, None)
        if term is not None and self._is_like(exp, term):
            return ByHand(SIGMOID if number == 1 else "", (exp,), is_share=True)
        return ByHand("", (exp,), is_share=True) if self._holds(whole, part) else None

    def _is_like(self, exp: Call, node: Node) -> bool:
        """Whether `node` is that exponential, or one of the same exponent."""
        other = self.origin(node, EXP)
        return other is not None and (other is exp or same(exp.subject, other.subject, self.evaluator))

    def _holds(self, whole: Node, part: Node, depth: int = _DEEPEST) -> bool:
        """Whether `part` goes into `whole`, by names and whatever functions: a sum over groups, a sum with an eps."""
        if whole is None or depth == 0:
            return False
        for inner in walk(whole):
            value = self.evaluator.values.get(inner, UNKNOWN)
            if same(inner, part, self.evaluator):  # type: ignore[arg-type] # what has no value is the same as nothing
                return True
            made_by = value.made_by
            if made_by is not None and made_by.node is not inner and self._holds(made_by.node, part, depth - 1):
                return True
        return False
