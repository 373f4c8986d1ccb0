"""NAN207 half-reduction-overflow."""

from __future__ import annotations

from nanlint.rule import Call, Expression, Facts, Finding, Hazard, Iterator, Need, Rule, Severity, unsafe

SUMS = frozenset({"torch.sum", "torch.nansum", "torch.cumsum"})
NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm", "torch.linalg.matrix_norm"})
POWERS = frozenset({"torch.pow", "torch.square"})
PRODUCT, QUOTIENT, DIFFERENCE = "torch.mul", "torch.div", "torch.sub"
MATRIX_PRODUCTS = frozenset({"torch.matmul", "torch.bmm", "torch.einsum", "torch.baddbmm"})
# Scores that are made small before they meet do not grow past the end.
SCALINGS = frozenset({PRODUCT, QUOTIENT, "torch.nn.functional.normalize", "torch.softmax"})
SCALES = frozenset({"scale", "scaling", "sqrt", "dim", "factor", "temperature", "norm"})
BOXES = frozenset({"boxes", "boxes1", "bboxes", "bboxes1", "boxes_a", "box1", "bbox", "bbox1", "box"})
HALVES = frozenset({"half", "float16", "fp16", "autocast"})
LARGEST = 65504.0
QUOTED = 30


class HalfReductionOverflow(Rule):
    """A sum, a square, a norm or a product of matrices that passes the end of float16.

    ## Why it hurts
    float16 ends at 65504. 70 values of 1000 are enough for a sum, one of 256 for a square, a box of 300 by 300 pixels
    for an area: the result is inf, and the quotient or difference that follows is NaN.

    ## Flagged
        half = x.half()
        total = half.pow(2).sum()

    ## Instead
        half = x.half()
        total = half.float().pow(2).sum()

    ## Silent when
    the values are bfloat16 or wider, cast first (`.float()`) or by `dtype=torch.float32`; inside autocast, where sums, powers and
    norms run in float32; when the values are known to be small enough; for `mean`, which adds up in float32; in tests.

    At `info`, where nothing says that the values are float16 and only large ones break: areas of boxes, and `q @ k` that is
    scaled afterwards in a file that speaks of float16.

    ## Fix
    Unsafe: `.float()` makes the result float32, which the code around it must accept.
    """

    code = "NAN207"
    name = "half-reduction-overflow"
    severity = Severity.WARNING
    dtypes = ("float16",)
    calls = SUMS | NORMS | POWERS | {PRODUCT, QUOTIENT}
    needs = (
        Need(SUMS | NORMS | POWERS, (frozenset({"half", "float16"}),)),
        Need(frozenset({PRODUCT}), (frozenset({DIFFERENCE}),), beside=BOXES, only_info=True),
        Need(frozenset({"torch.softmax"}), (MATRIX_PRODUCTS,), beside=HALVES, only_info=True),
    )

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one reduction."""
        subject = call.subject
        if subject is None or facts.is_test():
            return
        if call.function in {PRODUCT, QUOTIENT}:
            yield from self._check_area(call, facts)
            yield from self._check_scores(call, facts)
        elif facts.dtype_of(subject) == facts.dtype_of(call.node) == "float16" and _overflows(call, subject, facts):
            word = call.function.rpartition(".")[2]
            message = f"`{facts.quote(subject, QUOTED)}` is float16, which ends at 65504: its {word} can be inf"
            edit = None if facts.changes_its_operand(call) else facts.append_call(subject, ".float()")
            fix = unsafe("Compute in float32", edit) if edit is not None else None
            yield self.finding(facts.span_of(call.node), message, fix=fix, hazard=_hazard(call, subject, facts))

    def _check_area(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`(x2 - x1) * (y2 - y1)`, once for each function: the areas of one are all alike."""
        if not facts.mentions(*BOXES) or not _is_area(call, facts) or facts.is_widened():
            return
        if next(other for other in facts.calls_of(PRODUCT) if _is_area(other, facts)) is call:
            message = (
                f"`{facts.quote(call.node, QUOTED)}` is the area of boxes: inf in float16 from 256 by 256 pixels on"
            )
            hazard = _hazard(call, call.node, facts)
            yield self.finding(facts.span_of(call.node), message, hazard=hazard, severity=Severity.INFO)

    def _check_scores(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`(q @ k) / sqrt(d)`: what is scaled down afterwards may be inf before."""
        scores, scale = call.subject, call.arguments.get("other")
        made_by = facts.value_of(scores).made_by if scores is not None else None
        if scores is None or scale is None or made_by is None or made_by.function not in MATRIX_PRODUCTS:
            return
        if not facts.file_mentions(*HALVES) or not facts.mentions("softmax", "Softmax") or facts.is_widened():
            return
        if facts.dtype_of(scores) not in {"", "float16"} or not _is_scale(scale, facts) or _is_scaled(made_by, facts):
            return
        message = f"`{facts.quote(scores, QUOTED)}` is scaled too late: in float16 the product itself can be inf"
        yield self.finding(
            facts.span_of(call.node), message, hazard=_hazard(made_by, scores, facts), severity=Severity.INFO
        )


def _overflows(call: Call, subject: Expression, facts: Facts) -> bool:
    reach = facts.range_of(subject)
    largest = max(-reach.least, reach.greatest)
    if call.function not in POWERS:
        # Of values up to 1 it takes more than 65504 to get there.
        return largest > 1
    exponent = 2.0 if call.function == "torch.square" else facts.constant_of(call.arguments.get("exponent")) or 0.0
    return exponent >= 2 and largest > LARGEST ** (1 / exponent)


def _is_area(call: Call, facts: Facts) -> bool:
    """A product of two differences of coordinates, cut off at 0 or not."""
    if call.function != PRODUCT or facts.dtype_of(call.node) not in {"", "float16"}:
        return False
    sides = [facts.origin_of(call.arguments.get(name)) for name in ("input", "other")]
    for number, side in enumerate(sides):
        if side is not None and side.function in {"torch.clamp", "torch.clamp_min", "torch.relu"}:
            sides[number] = facts.origin_of(side.subject)
    texts = {facts.source_of(node) for node in call.arguments.values()}
    return len(texts) > 1 and all(side is not None and _is_edge(side, facts) for side in sides)


def _is_edge(side: Call, facts: Facts) -> bool:
    """`x2 - x1`: a difference of two things that are no numbers, and no results of further arithmetic."""
    ends = (side.subject, side.arguments.get("other"))
    return side.function == DIFFERENCE and all(
        end is not None and not facts.is_number(end) and facts.constant_of(end) is None for end in ends
    )


def _is_scale(node: Expression, facts: Facts) -> bool:
    constant = facts.constant_of(node)
    return constant is not None or facts.is_number(node) or not SCALES.isdisjoint(facts.words_of(node))


def _is_scaled(product: Call, facts: Facts) -> bool:
    origins = (facts.origin_of(operand) for operand in product.arguments.values())
    return any(origin is not None and origin.function in SCALINGS for origin in origins)


def _hazard(call: Call, operand: Expression, facts: Facts) -> Hazard:
    return Hazard(call.function, facts.source_of(operand), "large values in float16")
