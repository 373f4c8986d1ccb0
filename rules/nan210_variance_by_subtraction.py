"""NAN210 variance-by-subtraction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.rule import Call, Direction, Edit, Expression, Facts, Finding, Fix, Hazard, Rule, items, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOTS = frozenset({"torch.sqrt", "torch.rsqrt", "torch.log", "torch.log2", "torch.log10", "torch.reciprocal"})
POWER, QUOTIENT, DIFFERENCE, SUM, MEAN = "torch.pow", "torch.div", "torch.sub", "torch.add", "torch.mean"
AVERAGES = frozenset({MEAN, "torch.sum", "torch.nanmean", QUOTIENT, "torch.matmul", "torch.einsum", "torch.avg_pool1d", "torch.nn.functional.avg_pool2d", "torch.nn.functional.avg_pool3d", "torch.conv1d", "torch.conv2d"})  # fmt: skip
# With an eps it takes values beyond any ordinary size in float64.
NARROW = ("float16", "bfloat16", "float32")
QUOTED = 45


class Variance(NamedTuple):
    """`difference` is E[x^2] - E[x]^2; `of` is x where it is written as one and the same."""

    difference: Call
    squares: Call
    of: Expression | None


class VarianceBySubtraction(Rule):
    """The variance as E[x^2] - E[x]^2, which cancels to 0 or below, under a root, a logarithm or a division.

    ## Why it hurts
    Both terms grow with the square of the mean, and what is left of their difference is rounding. For values around 1000 with
    a spread of 0.1 it is noise of either sign: the root of it is NaN. A small eps does not help against noise that is larger.

    ## Flagged
        std = (x.pow(2).mean(dim=1) - x.mean(dim=1).pow(2) + 1e-5).sqrt()

    ## Instead
        std = (x.var(dim=1, correction=0) + 1e-5).sqrt()

    ## Silent when
    the difference is clamped before it is used; when it goes into no root, logarithm or division; in tests.

    ## Fix
    Safe: `var(correction=0)` is the same number without the cancellation. There is none where the two means are
    not written as means of one and the same value.
    """

    code = "NAN210"
    name = "variance-by-subtraction"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.BOTH
    calls = ROOTS | {POWER, QUOTIENT}

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one operation that a variance of 0 or below breaks."""
        inner = call.arguments.get("other") if call.function == QUOTIENT else call.subject
        if inner is None or facts.is_test() or not facts.is_tensor(call.node):
            return
        if call.function == POWER and not _is_root(call, facts):
            return
        is_division = call.function in {QUOTIENT, "torch.reciprocal"}
        bare = _variance(inner, facts)
        # A division by noise and an eps is wrong, but finite.
        variance = bare if bare is not None or is_division else _variance_plus_eps(inner, facts)
        if variance is None:
            return
        name = call.function.rpartition(".")[2]
        message = f"`{facts.quote(variance.difference.node, QUOTED)}` can cancel to 0 or below, where `{name}` breaks"
        hazard = Hazard(call.function, facts.source_of(inner), "0 or below")
        yield self.finding(
            facts.span_of(call.node),
            message,
            fix=_fix(call, variance, facts, has_eps=bare is None),
            hazard=hazard,
            dtypes=self.dtypes if bare else NARROW,
        )


def _is_root(call: Call, facts: Facts) -> bool:
    exponent = facts.constant_of(call.arguments.get("exponent"))
    return exponent is not None and exponent < 1 and exponent != 0


def _variance(node: Expression | None, facts: Facts) -> Variance | None:
    difference = facts.origin_of(node)
    if difference is None or difference.function != DIFFERENCE or not facts.is_here(difference.node):
        return None
    squares, mean = facts.origin_of(difference.subject), _squared(difference.arguments.get("other"), facts)
    if squares is None or mean is None or squares.function not in AVERAGES or not facts.is_here(squares.node):
        return None
    averaged = facts.origin_of(mean)
    if averaged is None or averaged.function not in AVERAGES:
        return None
    values, are_means = _squared(squares.subject, facts), squares.function == averaged.function == MEAN
    same = values is not None and are_means and facts.is_same(values, averaged.subject)
    if values is None and not _has_square(squares.subject, facts):
        return None
    return Variance(difference, squares, values if same else None)


def _variance_plus_eps(node: Expression, facts: Facts) -> Variance | None:
    """`variance + eps` and `eps + variance`."""
    added = facts.value_of(node).made_by
    if added is None or added.function != SUM or not facts.is_here(added.node):
        return None
    left, right = added.subject, added.arguments.get("other")
    return _variance(right if left is None or facts.is_number(left) else left, facts)


def _squared(node: Expression | None, facts: Facts) -> Expression | None:
    """`x` of `x ** 2`, `x.square()` and `x * x`, through names."""
    call = facts.origin_of(node)
    return facts.squared(call) if call is not None and facts.is_here(call.node) else None


def _has_square(node: Expression | None, facts: Facts) -> bool:
    """Whether it is a weighted square, or a sum of squares: `x ** 2 * w`, `(x ** 2).sum()`."""
    call = facts.origin_of(node)
    if call is None or call.function not in AVERAGES | {"torch.mul"}:
        return False
    return any(_squared(part, facts) is not None for part in call.arguments.values())


def _fix(call: Call, variance: Variance, facts: Facts, *, has_eps: bool) -> Fix | None:
    """`std` for the root of a variance, which has a gradient at 0 as well; `var` where an eps stands beside it."""
    settings = _settings(variance, facts)
    is_root = call.function == "torch.sqrt" or facts.constant_of(call.arguments.get("exponent")) == 0.5
    # Of a bare variance of 0 the inverse and the logarithm are not finite, whoever computes it.
    if variance.of is None or settings is None or not (has_eps or is_root) or "#" in facts.source_of(call.node):
        return None
    if not facts.is_unchanged(variance.of, variance.difference.node) or facts.changes_its_operand(call):
        return None
    name, node = ("var", variance.difference.node) if has_eps else ("std", call.node)
    text = f"{facts.as_receiver(variance.of)}.{name}({settings})"
    return safe(f"Use {name}", *facts.with_leftovers(Edit(facts.span_of(node), text)))


def _settings(variance: Variance, facts: Facts) -> str | None:
    """The arguments that both means were given, with the correction that they mean; None if they differ."""
    mean = facts.origin_of(_squared(variance.difference.arguments.get("other"), facts))
    given, others = (
        {name: facts.source_of(node) for name, node in call.arguments.items() if name != "input"}
        for call in (variance.squares, mean or variance.squares)
    )
    if mean is None or given != others or not set(given) <= {"dim", "keepdim"}:
        return None
    return ", ".join([*(f"{name}={text}" for name, text in given.items()), "correction=0"])
