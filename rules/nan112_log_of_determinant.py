"""NAN112 log-of-determinant."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Edit, Facts, Finding, Fix, Hazard, Iterator, Rule, items, unsafe

DETERMINANT, PRODUCT, RUNNING_PRODUCT, ABS = "torch.det", "torch.prod", "torch.cumprod", "torch.abs"
KINDS = {DETERMINANT: "a determinant", PRODUCT: "a product", RUNNING_PRODUCT: "a product"}
LOG = "torch.log"
# torch has no determinant in half types.
DETERMINANT_DTYPES = ("float32", "float64")
QUOTED = 40


class LogOfDeterminant(Rule):
    """The logarithm of a determinant or of a product, which leave the format long before their logarithm does.

    ## Why it hurts
    A product of 60 values around 0.1 is 1e-60, which float32 rounds to 0: the logarithm is -inf and its gradient NaN, while
    the sum of the logarithms is a harmless -138. The determinant of a matrix of 60 rows is such a product.

    ## Flagged
        evidence = torch.log(torch.det(covariance))
        likelihood = probabilities.prod(dim=-1).log()

    ## Instead
        evidence = torch.linalg.slogdet(covariance).logabsdet
        likelihood = probabilities.log().sum(dim=-1)

    ## Silent when
    the logarithm comes from `logdet` or `slogdet`; when something was added to the product or it was clamped; for products of
    counts and of constants, as over a shape; in tests. A product is told at `info` where no name says that the code is trained.

    ## Fix
    Unsafe: `slogdet` is finite for a negative determinant, where the logarithm was NaN, and the sum of logarithms is -inf or NaN
    where a factor is not above 0.
    """

    code = "NAN112"
    name = "log-of-determinant"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.BOTH
    calls = frozenset({LOG, "torch.log2", "torch.log10"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one logarithm."""
        inner = call.subject
        if inner is None or facts.is_test() or not facts.is_tensor(call.node):
            return
        made_by = facts.origin_of(facts.operand_of(inner, ABS) or inner)
        if made_by is None or made_by.function not in KINDS or made_by.subject is None:
            return
        reach = facts.range_of(inner)
        if reach.integer or reach.low > 0 or facts.value_of(made_by.subject).detached or facts.is_mended(call.node):
            return
        kind = KINDS[made_by.function]
        message = f"`{facts.quote(inner, QUOTED)}` is {kind} and rounds to 0 or inf before its logarithm would"
        yield self.finding(
            facts.span_of(call.node),
            message,
            fix=_fix(call, made_by, facts),
            hazard=Hazard(call.function, facts.source_of(inner), "0"),
            dtypes=DETERMINANT_DTYPES if made_by.function == DETERMINANT else self.dtypes,
            # Products are taken of other things than probabilities, too.
            evidence=(items.RANGE_REACHES,) if made_by.function == DETERMINANT or facts.is_trained() else (items.RARE,),
        )


def _fix(call: Call, made_by: Call, facts: Facts) -> Fix | None:
    """For a logarithm that is written around the determinant or the product itself."""
    if call.function != LOG or made_by.node is not call.subject or made_by.subject is None:
        return None
    if "#" in facts.source_of(call.node) or facts.changes_its_operand(call):
        return None
    if made_by.function == DETERMINANT:
        spelled = facts.spelling_of("torch.slogdet")
        text = f"{spelled}({facts.source_of(made_by.subject)})[1]" if spelled is not None else None
        title = "Use slogdet"
    else:
        word = "sum" if made_by.function == PRODUCT else "cumsum"
        given = [f"{name}={facts.source_of(node)}" for name, node in made_by.arguments.items() if name != "input"]
        text = f"{facts.as_receiver(made_by.subject)}.log().{word}({', '.join(given)})"
        title = "Add the logarithms"
    return unsafe(title, Edit(facts.span_of(call.node), text)) if text is not None else None
