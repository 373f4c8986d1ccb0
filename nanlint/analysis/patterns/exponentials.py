"""Functions that are written out with exponentials, and what brings an exponent into bounds.

`log(sum(exp(x)))` is a logsumexp, `exp(x) / sum(exp(x))` a softmax, whatever statements the parts are spread over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.op_graph import CALL, JOIN, NUMBER, made_from
from nanlint.analysis.patterns.probabilities import origins
from nanlint.analysis.relations import NORMS, op_behind, same
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Op, Value

EXP, EXPM1, ADD, SUB = "torch.exp", "torch.expm1", "torch.add", "torch.sub"
SOFTPLUS, SIGMOID, TANH = "torch.nn.functional.softplus", "torch.sigmoid", "torch.tanh"
LOGSUMEXP, LOGADDEXP, SOFTMAX, LOGCUMSUMEXP = (
    "torch.logsumexp",
    "torch.logaddexp",
    "torch.softmax",
    "torch.logcumsumexp",
)
LOGS, QUOTIENTS = torch_names("log log1p"), torch_names("div reciprocal")
# Of exponentials, and what the logarithm of it is.
_TOTALS = {"torch.sum": LOGSUMEXP, "torch.cumsum": LOGCUMSUMEXP, "torch.mean": ""}
_LOGARITHMS = torch_names("log log1p log_softmax nn.functional.logsigmoid")
_PEAKS = torch_names("max amax logsumexp cummax logcumsumexp scatter_reduce maximum")
_KEEPING = torch_names("mul div neg add sub where masked_fill clamp clamp_min")
_PRODUCTS = torch_names("mul matmul einsum outer mm")
_CLAMPS = torch_names("clamp clamp_min clamp_max minimum")
_DEEPEST = 6


class ByHand(NamedTuple):
    """A function by hand. `function` is the operation that computes it, empty where there is none."""

    function: str
    exps: tuple[Op, ...]
    total: Op | None = None
    """The sum over the exponentials."""
    falls: bool = False
    """Whether it is the function of the negated exponent: 1 / (1 + exp(x)) is sigmoid(-x)."""
    only_backward: bool = False
    """Whether an infinite exponential leaves the forward finite."""
    is_inverse: bool = False
    """Whether it is log(exp(x) - 1), the inverse of softplus."""
    is_share: bool = False
    """Whether it is a quotient of exponentials."""

    @property
    def needs_mass(self) -> bool:
        """Whether it breaks as well where every exponential is 0."""
        return self.function in {LOGSUMEXP, LOGCUMSUMEXP, LOGADDEXP, SOFTMAX}

    @property
    def is_mild(self) -> bool:
        """The backward alone, the inverse of softplus, the logarithm of a scale with a floor, and a gate that is learned as a number."""
        is_gate = (
            self.exps[0].subject is not None
            and self.exps[0].subject.learned
            and (self.is_share or self.function == SOFTPLUS)
        )
        return is_gate or self.only_backward or self.is_inverse or not (self.function or self.total or self.is_share)


def by_hand(op: Op, *, plainly: bool = False) -> ByHand | None:
    """The function that `op`, a logarithm or a quotient, ends; None if it is no such. `plainly`: with no view or cast in between."""
    look = _Look(plainly=plainly)
    if op.function in LOGS:
        return look.logarithm(op)
    if op.function not in QUOTIENTS or op.subject is None:
        return None
    if op.function == "torch.reciprocal":
        return look.quotient(None, op.subject)
    return look.quotient(op.subject, op.operands.get("other"))


class _Look(NamedTuple):
    """One look at an expression."""

    plainly: bool

    def origin(self, value: Value | None, *functions: str) -> Op | None:
        """The operation behind a value, if it is one of `functions`."""
        if value is None:
            return None
        made = [made_from(value)] if self.plainly else origins(value)
        first = made[0] if len(made) == 1 else None
        return first if first is not None and first.function in functions else None

    def without_constant(self, op: Op) -> tuple[Value | None, float | None]:
        """The other term of a sum with a constant, and that constant; the term is None if there is no constant."""
        first, second = op.operands.get("input"), op.operands.get("other")
        for term, other in ((first, second), (second, first)):
            if other is not None and other.range.constant is not None and other.kind is NUMBER:
                return term, other.range.constant
        return None, None

    def logarithm(self, op: Op) -> ByHand | None:
        inside, added = op.subject, 1.0 if op.function == "torch.log1p" else 0.0
        plus = self.origin(inside, ADD)
        if plus is not None:
            one, two = (self.origin(plus.operands.get(name), EXP) for name in ("input", "other"))
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

    def _logarithm_of_difference(self, inside: Value | None) -> ByHand | None:
        """log(exp(x) - 1)."""
        less = self.origin(inside, SUB)
        exp = self.origin(less.subject, EXP) if less is not None else self.origin(inside, EXPM1)
        one = less.operands.get("other") if less is not None else None
        is_one = less is None or (one is not None and one.number == 1)
        return ByHand("", (exp,), is_inverse=True) if exp is not None and is_one else None

    def quotient(self, part: Value | None, whole: Value | None) -> ByHand | None:
        exp = self.origin(part, EXP)
        if exp is not None:
            return self._share(exp, part, whole)
        below, above = self.origin(whole, ADD), self.origin(part, SUB)
        if above is not None and below is not None and (tanh := self._tanh(above, below)) is not None:
            return tanh
        term, number = self.without_constant(below) if below is not None else (None, None)
        exp = self.origin(term, EXP)
        if exp is None or number != 1:
            return None
        is_one = part is None or part.number == 1
        return ByHand(SIGMOID if is_one else "", (exp,), falls=True, only_backward=True)

    def _tanh(self, above: Op, below: Op) -> ByHand | None:
        names = ("input", "other")
        one, two = (self.origin(above.operands.get(name), EXP) for name in names)
        if one is None or two is None:
            return None
        if not all(self._is_like(each, below.operands.get(name)) for each, name in zip((one, two), names, strict=True)):
            return None
        minus = self.origin(two.subject, "torch.neg")
        is_tanh = minus is not None and same(minus.subject, one.subject)
        return ByHand(TANH if is_tanh else "", (one, two), is_share=True)

    def _share(self, exp: Op, part: Value | None, whole: Value | None) -> ByHand | None:
        total = self.origin(whole, "torch.sum")
        if total is not None and self._is_like(exp, total.subject):
            return ByHand(SOFTMAX, (exp,), total)
        plus = self.origin(whole, ADD)
        term, number = self.without_constant(plus) if plus is not None else (None, None)
        if term is not None and self._is_like(exp, term):
            return ByHand(SIGMOID if number == 1 else "", (exp,), is_share=True)
        return ByHand("", (exp,), is_share=True) if part is not None and _holds(whole, part) else None

    def _is_like(self, exp: Op, value: Value | None) -> bool:
        """Whether it is that exponential, or one of the same exponent."""
        other = self.origin(value, EXP)
        return other is not None and (other is exp or same(exp.subject, other.subject))


def _holds(whole: Value | None, part: Value, depth: int = _DEEPEST) -> bool:
    """Whether `part` goes into `whole`, by whatever functions: a sum over groups, a sum with an eps."""
    if whole is None or not depth:
        return False
    if same(whole, part):
        return True
    op = whole.op
    return op is not None and any(_holds(each, part, depth - 1) for each in op.operands.values())


def is_shifted(value: Value | None, depth: int = _DEEPEST) -> bool:
    """Whether a maximum was subtracted on the way to it, or a logarithm taken: `x - x.max()`, and what is scaled of it."""
    return value is not None and depth > 0 and any(_is_shifted(op, depth) for op in origins(value))


def _is_shifted(op: Op, depth: int) -> bool:
    other = op.operands.get("other")
    if op.function in _LOGARITHMS:
        return True  # the exponential of a logarithm is what it was
    if (
        op.function in {SUB, "torch.div"}
        and other is not None
        and (_is_peak(other) or (op.function == "torch.div" and _is_of_lengths(other)))
    ):
        return True
    if op.function in {ADD, SUB} and _is_less_its_bound(op):
        return True
    return op.function in _KEEPING and any(
        is_shifted(each, depth - 1) for name, each in op.operands.items() if name in {"input", "other"}
    )


def _is_peak(value: Value) -> bool:
    """A maximum, also one that a helper of some library has taken by groups."""
    for op in origins(value):
        behind = op_behind(op.subject) if op.function.startswith("<") and op.subject is not None else None
        for made in (op, behind):
            if made is None:
                continue
            is_called = made.function == CALL and (
                "max" in made.where
                or any(
                    each.constant in {"max", "amax"}
                    for each in made.operands.values()
                    if isinstance(each.constant, str)
                )
            )
            if made.function in _PEAKS or is_called:
                return True
    return False


def _is_of_lengths(value: Value) -> bool:
    """`torch.outer(x.norm(dim=1), y.norm(dim=1))`: what is divided by the lengths of both is a cosine."""
    op = op_behind(value)
    if op is None or op.function not in _PRODUCTS:
        return False
    parts = [part for each in op.operands.values() for part in (each.parts or (each,)) if part.kind != "text"]
    makers = [op_behind(part) for part in parts]
    return len(makers) > 1 and all(made is not None and made.function in NORMS for made in makers)


def _is_less_its_bound(op: Op) -> bool:
    """`x - x.clamp(min=0)`, or `x + m` with `m = -x.clamp(min=0)`: the larger of x and 0 is what is subtracted."""
    one, two = op.operands.get("input"), op.operands.get("other")
    pairs = [(one, two)] if op.function == SUB else [(one, _negated(two)), (two, _negated(one))]
    return any(_is_bound_of(bound, value) for value, bound in pairs)


def _negated(value: Value | None) -> Value | None:
    op = op_behind(value)
    return op.subject if op is not None and op.function == "torch.neg" else None


def _is_bound_of(bound: Value | None, value: Value | None) -> bool:
    op = op_behind(bound)
    floor = op.operands.get("min") if op is not None else None
    is_clamped = op is not None and (
        op.function == "torch.relu" or (op.function in _CLAMPS and floor is not None and floor.number == 0)
    )
    return is_clamped and op is not None and same(op.subject, value)


def is_bounded_on_a_path(value: Value) -> bool:
    """Whether some path clamps it: who asks for the bound gets it."""
    op = op_behind(value)
    return op is not None and op.function == JOIN and any(made.function in _CLAMPS for made in origins(value))
