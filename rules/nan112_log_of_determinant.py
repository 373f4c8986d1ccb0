"""NAN112 log-of-determinant."""

from __future__ import annotations

from nanlint.rule import (
    Direction,
    Edit,
    Finding,
    Fix,
    Iterator,
    Op,
    OpHazard,
    Rule,
    items,
    patterns,
    replacing,
    unsafe,
    uses,
    zone,
)

DETERMINANT, PRODUCT, LOG, LOGDET = "torch.det", "torch.prod", "torch.log", "torch.logdet"
# torch has no determinant in half types.
DETERMINANT_DTYPES = ("float32", "float64")
QUOTED = 40


class LogOfDeterminant(Rule):
    """The logarithm of a determinant or of a product, which leave the format long before their logarithm does.

    ## Why it hurts
    A product of 60 values around 0.1 is 1e-60, which float32 rounds to 0: the logarithm is -inf and its gradient NaN, while
    the sum of the logarithms is a harmless -138. The determinant of a matrix of 60 rows is such a product. `logdet` bears that,
    and no singular matrix: `x.T @ x` of fewer rows than columns is one, and its logarithm is -inf, or NaN.

    ## Flagged
        evidence = torch.log(torch.det(covariance))
        likelihood = probabilities.prod(dim=-1).log()

    ## Instead
        evidence = torch.linalg.slogdet(covariance).logabsdet
        likelihood = probabilities.log().sum(dim=-1)

    ## Silent when
    the logarithm comes from `slogdet`; when something was added to the product or it was clamped, or to the diagonal of the matrix; for
    products of counts and of constants, as over a shape. A product of what is known to pass 1 is told at `info`, and so is the
    `logdet` of a matrix that may be singular for all that is known.

    ## Fix
    Unsafe: `slogdet` is finite for a negative determinant, where the logarithm was NaN, and the sum of logarithms is -inf or NaN
    where a factor is not above 0.
    """

    code, name = "NAN112", "log-of-determinant"
    evidence = (items.LOST_AT_ONCE,)
    hazards = tuple(zone(log, "input") for log in (LOG, "torch.log2", "torch.log10", LOGDET))

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one logarithm."""
        if hazard.op.function == LOGDET:
            yield from self._check_matrix(hazard)
            return
        made = patterns.product_of_factors(hazard.operand.value)
        if made is None or made.subject is None or hazard.is_of_arrays or uses.is_replaced(hazard):
            return
        kind, is_determinant = patterns.FACTORS[made.function], made.function == DETERMINANT
        is_of_sizes = made.subject.is_known and made.subject.range.high > 1
        yield self.told(
            hazard,
            f"`{hazard.operand.quoted(QUOTED)}` is a {kind} and rounds to 0 or inf before its logarithm would",
            labels=hazard.label(made, f"the {kind} is made here"),
            fix=_fix(hazard, made),
            direction=Direction.BOTH,
            dtypes=DETERMINANT_DTYPES if is_determinant else hazard.dtypes,
            evidence=(items.RARE if is_of_sizes and not is_determinant else items.RANGE_REACHES,),
        )

    def _check_matrix(self, hazard: OpHazard) -> Iterator[Finding]:
        """A matrix that nothing keeps from being singular."""
        if patterns.is_kept_regular(hazard.callers) or uses.is_replaced(hazard):
            return
        yield self.told(
            hazard,
            f"`{hazard.operand.quoted(QUOTED)}` can be singular: its logdet is -inf, or NaN where it rounds below 0",
            evidence=(items.MADE_SO if patterns.is_gram(hazard.callers) else items.RARE,),
        )


def _fix(hazard: OpHazard, made: Op) -> Fix | None:
    """For a logarithm that is written around the determinant or the product itself."""
    if hazard.op.function != LOG or made.node is not hazard.operand.node or "#" in hazard.text or hazard.is_in_place:
        return None
    factors = hazard.operand_of(made, "input")
    if made.function == DETERMINANT:
        spelled = replacing.spelling_of(hazard, "torch.slogdet")
        return unsafe("Use slogdet", hazard.rewritten(f"{spelled}({factors.text})[1]" if spelled else None))
    given = [f"{name}={hazard.operand_of(made, name).text}" for name in made.operands if name != "input"]
    text = f"{factors.as_receiver}.log().{'sum' if made.function == PRODUCT else 'cumsum'}({', '.join(given)})"
    return unsafe("Add the logarithms", Edit(hazard.span, text)) if factors.value.kind == "tensor" else None
