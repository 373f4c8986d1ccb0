"""NAN207 half-reduction-overflow."""

from __future__ import annotations

from nanlint.rule import Call, Expression, Facts, Finding, Hazard, Iterator, Rule, items, unsafe

SUMS = frozenset({"torch.sum", "torch.nansum", "torch.cumsum"})
NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm", "torch.linalg.matrix_norm"})
POWERS = frozenset({"torch.pow", "torch.square"})
PRODUCT, QUOTIENT = "torch.mul", "torch.div"
AREAS = frozenset({PRODUCT, "torch.prod"})
MATRIX_PRODUCTS = frozenset({"torch.matmul", "torch.bmm", "torch.einsum", "torch.baddbmm"})
# Scores that are made small before they meet do not grow past the end.
SCALINGS = frozenset({PRODUCT, QUOTIENT, "torch.nn.functional.normalize", "torch.softmax"})
SCALES = frozenset({"scale", "scaling", "sqrt", "dim", "factor", "temperature", "norm"})
BOXES = frozenset({"boxes", "boxes1", "bboxes", "bboxes1", "boxes_a", "box1", "bbox", "bbox1", "box"})
MEAN = "torch.mean"
AVERAGES = frozenset({MEAN, "torch.var", "torch.var_mean"})
GRADIENTS, KEYS = frozenset({"grad", "grads", "gradient", "gradients"}), frozenset({"k", "key", "keys"})
# What a loss of segmentation counts over all pixels goes by these names.
COUNTS = frozenset({"intersection", "intersect", "inter", "union", "cardinality", "tp", "fp", "fn", "tn"})
LARGEST, QUOTED = 65504.0, 30


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
    norms run in float32; when the values are known to be small enough; for `mean` and `var`, which add up in float32; in tests.

    At `info`, where nothing says that the values are float16: areas of boxes, `q @ k` that is scaled afterwards, `k.T @ v` of a linear attention, the sum of
    log-probabilities over all classes and of what a loss counts over all pixels, the norm of gradients, the sum or mean of squares, or the variance, whose root is taken.

    ## Fix
    Unsafe: `.float()` makes the result float32, which the code around it must accept.
    """

    code = "NAN207"
    name = "half-reduction-overflow"
    dtypes = ("float16",)
    calls = SUMS | NORMS | POWERS | MATRIX_PRODUCTS | AREAS | AVERAGES | {QUOTIENT}
    yields_to = frozenset({"NAN103", "NAN203", "NAN204", "NAN210", "NAN211", "NAN301"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one reduction."""
        subject = call.subject
        if subject is None or facts.is_test():
            return
        if call.function in AREAS | {QUOTIENT}:
            yield from self._check_area(call, facts)
            yield from self._check_scores(call, facts)
        elif facts.dtype_of(subject) == "" and _is_large(call, subject, facts) and not facts.is_widened():
            message = f"`{facts.quote(call.node, QUOTED)}` can be inf if it is float16, which ends at 65504"
            hazard = _hazard(call, subject, facts)
            yield self.finding(facts.span_of(call.node), message, hazard=hazard, evidence=(items.DECIDED_ELSEWHERE,))
        elif call.function in AVERAGES | MATRIX_PRODUCTS:
            return
        elif facts.dtype_of(subject) == facts.dtype_of(call.node) == "float16" and _overflows(call, subject, facts):
            word = call.function.rpartition(".")[2]
            message = f"`{facts.quote(subject, QUOTED)}` is float16, which ends at 65504: its {word} can be inf"
            edit = None if facts.changes_its_operand(call) else facts.append_call(subject, ".float()")
            fix = unsafe("Compute in float32", edit) if edit is not None else None
            yield self.finding(
                facts.span_of(call.node),
                message,
                fix=fix,
                hazard=_hazard(call, subject, facts),
                evidence=(items.RANGE_REACHES,),
            )

    def _check_area(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`(x2 - x1) * (y2 - y1)`, once for each function: the areas of one are all alike."""
        if not facts.mentions(*BOXES) or not facts.is_area(call) or facts.is_widened():
            return
        if next(other for other in facts.calls_of(*AREAS) if facts.is_area(other)) is call:
            text = facts.quote(call.node, QUOTED)
            message = f"`{text}` is the area of boxes: inf in float16 from 256 by 256 pixels on"
            hazard = _hazard(call, call.node, facts)
            yield self.finding(facts.span_of(call.node), message, hazard=hazard, evidence=(items.DECIDED_ELSEWHERE,))

    def _check_scores(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """`(q @ k) / sqrt(d)`: what is scaled down afterwards may be inf before."""
        scores, scale = call.subject, call.arguments.get("other")
        made_by = facts.value_of(scores).made_by if scores is not None else None
        if scores is None or scale is None or made_by is None or made_by.function not in MATRIX_PRODUCTS:
            return
        if not facts.mentions("softmax", "Softmax") or facts.is_widened():
            return
        if facts.dtype_of(scores) not in {"", "float16"} or not _is_scale(scale, facts) or _is_scaled(made_by, facts):
            return
        message = f"`{facts.quote(scores, QUOTED)}` is scaled too late: in float16 the product itself can be inf"
        hazard = _hazard(made_by, scores, facts)
        yield self.finding(facts.span_of(call.node), message, hazard=hazard, evidence=(items.DECIDED_ELSEWHERE,))


def _is_large(call: Call, subject: Expression, facts: Facts) -> bool:
    """Whether it passes the end of float16 on ordinary values: gradients that are scaled, what is summed up over a picture."""
    if "dtype" in call.arguments or facts.autocast_at(call.node):
        return False
    words = facts.words_of(subject)
    # Of a penalty on gradients there is one norm for each sample, and none is scaled.
    is_penalty = not {"penalty", "pen"}.isdisjoint((*words, *facts.kept_as(call))) or "penalty" in facts.function_name()
    is_of_gradients = call.function in SUMS | NORMS and not GRADIENTS.isdisjoint(words) and not is_penalty
    if is_of_gradients or facts.is_sum_over_classes(call):
        return True
    is_large = facts.is_sum_of_squares(call) or facts.is_linear_attention(call, KEYS)
    return (is_large or facts.is_first_count(call, COUNTS)) and facts.may_be_half()


def _overflows(call: Call, subject: Expression, facts: Facts) -> bool:
    reach = facts.range_of(subject)
    largest = max(-reach.least, reach.greatest)
    if call.function not in POWERS:
        # Of values up to 1 it takes more than 65504 to get there.
        return largest > 1
    exponent = 2.0 if call.function == "torch.square" else facts.constant_of(call.arguments.get("exponent")) or 0.0
    return exponent >= 2 and largest > LARGEST ** (1 / exponent)


def _is_scale(node: Expression, facts: Facts) -> bool:
    constant = facts.constant_of(node)
    return constant is not None or facts.is_number(node) or not SCALES.isdisjoint(facts.words_of(node))


def _is_scaled(product: Call, facts: Facts) -> bool:
    origins = (facts.origin_of(operand) for operand in product.arguments.values())
    return any(origin is not None and origin.function in SCALINGS for origin in origins)


def _hazard(call: Call, operand: Expression, facts: Facts) -> Hazard:
    return Hazard(call.function, facts.source_of(operand), "large values in float16")
