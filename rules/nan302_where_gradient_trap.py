"""NAN302 where-gradient-trap."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Edit, Expression, Facts, Finding, Fix, Hazard, Iterator, Rule, Severity, safe

WHERE, FILL, CLEAN, CLAMP, CLAMP_MIN = (
    "torch.where",
    "torch.masked_fill",
    "torch.nan_to_num",
    "torch.clamp",
    "torch.clamp_min",
)
# The operation -> the operand that breaks it, and a value of that operand with which it is harmless.
BREAKING = {
    "torch.log": ("input", "1.0"),
    "torch.log2": ("input", "1.0"),
    "torch.log10": ("input", "1.0"),
    "torch.log1p": ("input", "0.0"),
    "torch.sqrt": ("input", "1.0"),
    "torch.rsqrt": ("input", "1.0"),
    "torch.div": ("other", "1.0"),
    "torch.reciprocal": ("input", "1.0"),
    "torch.pow": ("input", "1.0"),
    "torch.exp": ("input", "0.0"),
    "torch.expm1": ("input", "0.0"),
    "torch.acos": ("input", "0.0"),
    "torch.asin": ("input", "0.0"),
    "torch.atanh": ("input", "0.0"),
}
EXPONENTIALS = frozenset({"torch.exp", "torch.expm1"})
LOGARITHMS = frozenset({"torch.log", "torch.log2", "torch.log10"})
# Through these a gradient of 0 stays 0, and so meets the infinite slope behind them.
THROUGH = frozenset({"torch.mul", "torch.add", "torch.sub", "torch.neg", "torch.abs", "torch.log1p", "torch.div"})
DEEPEST = 5
QUOTED = 40


class WhereGradientTrap(Rule):
    """A result that breaks is thrown away, and its gradient is not.

    ## Why it hurts
    `where(x > 0, x.log(), 0)` picks the 0 where x is 0, so the forward is finite. The backward sends a gradient of 0 into
    the branch that was not picked, and there 0 times the infinite slope of the logarithm is NaN. `masked_fill`,
    `nan_to_num` and a clamp of the result hide the value in the same way and do not stop the gradient either.

    ## Flagged
        y = torch.where(x > 0, x.log(), torch.zeros_like(x))
        z = x.log().masked_fill(x <= 0, 0.0)

    ## Instead
        y = torch.where(x > 0, torch.where(x > 0, x, 1.0).log(), torch.zeros_like(x))

    ## Silent when
    the operand is made safe first (the double where, or a clamp of it); when the condition does not speak of the operand; under
    `no_grad`, on detached values, and in code that no backward passes through by its name; at `info` where the name does not say
    that one does (`forward`, a loss, a distance).

    ## Fix
    Safe: an inner `where` with the same condition gives the operation a harmless operand exactly where its result is
    thrown away. There is none for `nan_to_num` and clamps, which name no condition.
    """

    code = "NAN302"
    name = "where-gradient-trap"
    severity = Severity.ERROR
    preview = True
    direction = Direction.BACKWARD
    calls = frozenset({WHERE, FILL, CLEAN, CLAMP, CLAMP_MIN})
    beside = frozenset(
        {"where", "masked_fill", "masked_fill_", "nan_to_num", "nan_to_num_", "clamp", "clamp_min", "clip"}
    )

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one selection."""
        if not facts.may_train() or not facts.is_recorded(call.node):
            return
        for branch, condition, holds in _branches(call):
            for inner in _breaking(branch, facts):
                operand, harmless = BREAKING[inner.function]
                node = inner.arguments.get(operand)
                if node is None or not facts.has_gradient(node) or not _is_hidden(call, inner, condition, holds, facts):
                    continue
                what, where = facts.quote(inner.node, QUOTED), call.function.rpartition(".")[2]
                message = f"`{where}` hides where `{what}` breaks, but its gradient there is 0 * inf, which is NaN"
                fix = None
                if condition is not None and facts.is_within(inner.node, call.node):
                    fix = _fix(node, condition, harmless, holds, facts)
                hazard = Hazard(inner.function, facts.source_of(node), "outside its domain")
                severity = Severity.ERROR if facts.is_trained() else Severity.INFO
                yield self.finding(facts.span_of(call.node), message, fix=fix, hazard=hazard, severity=severity)
                return


def _branches(call: Call) -> Iterator[tuple[Expression, Expression | None, bool]]:
    """What may be thrown away, under which condition it is kept, and whether it is kept where that holds."""
    given = call.arguments
    if call.function == WHERE and {"condition", "input", "other"} <= set(given):
        yield given["input"], given["condition"], True
        yield given["other"], given["condition"], False
    elif call.function == FILL and {"input", "mask"} <= set(given):
        yield given["input"], given["mask"], False
    elif call.function not in {WHERE, FILL} and "input" in given:
        yield given["input"], None, True


def _breaking(node: Expression | None, facts: Facts, depth: int = 0) -> Iterator[Call]:
    """The operations behind `node` that have an infinite slope somewhere."""
    made_by = facts.value_of(node).made_by if node is not None else None
    if made_by is None or not facts.is_here(made_by.node) or depth == DEEPEST:
        return
    if made_by.function in BREAKING:
        yield made_by
    if made_by.function in THROUGH:
        for operand in made_by.arguments.values():
            yield from _breaking(operand, facts, depth + 1)


def _is_hidden(call: Call, inner: Call, condition: Expression | None, holds: bool, facts: Facts) -> bool:  # noqa: FBT001 - a pair with the condition
    """Whether `call` throws away just those results of `inner` that break."""
    operand, _ = BREAKING[inner.function]
    node = inner.arguments[operand]
    if not facts.breaks(inner, operand, facts.range_of(node)):
        return False
    if condition is not None:
        kept = facts.range_where(node, condition, holds=holds)
        # A threshold against overflow lies above 0; another one is about something else.
        is_threshold = inner.function not in EXPONENTIALS or kept.high > 0
        return is_threshold and not facts.breaks(inner, operand, kept)
    if call.function == CLEAN:
        return inner.function not in EXPONENTIALS and facts.is_tensor(node)
    floor = facts.constant_of(call.arguments.get("min"))
    return inner.function in LOGARITHMS and call.subject is not None and floor is not None and floor <= -20


def _fix(node: Expression, condition: Expression, harmless: str, holds: bool, facts: Facts) -> Fix | None:  # noqa: FBT001 - as above
    spelled, said = facts.spelling_of(WHERE), facts.on_one_line(facts.source_of(condition))
    text = facts.on_one_line(facts.source_of(node))
    if spelled is None or said is None or text is None or not facts.is_unchanged(condition, node):
        return None
    picked = f"{text}, {harmless}" if holds else f"{harmless}, {text}"
    return safe("Make the operand harmless first", Edit(facts.span_of(node), f"{spelled}({said}, {picked})"))
