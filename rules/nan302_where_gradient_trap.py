"""NAN302 where-gradient-trap."""

from __future__ import annotations

from itertools import islice

from nanlint.rule import Call, Direction, Edit, Facts, Finding, Hazard, Iterator, Rule, Selection, items, safe

WHERE, FILL, CLEAN, PRODUCT, PART = "torch.where", "torch.masked_fill", "torch.nan_to_num", "torch.mul", "subscript"
SELECTING = frozenset({WHERE, FILL, CLEAN, "torch.clamp", "torch.clamp_min"})
BY_MASK, DIV = (PRODUCT, PART), "torch.div"
WORDS = {PRODUCT: "the product with a mask", PART: "the index"}
# The operation -> the operand that breaks it, and a value of that operand with which it is harmless.
BREAKING = {
    **{f"torch.{name}": ("input", "1.0") for name in ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal", "pow")},
    **{f"torch.{name}": ("input", "0.0") for name in ("log1p", "exp", "expm1", "acos", "asin", "atanh")},
    "torch.acosh": ("input", "2.0"),
    DIV: ("other", "1.0"),
}
EXPONENTIALS = frozenset({"torch.exp", "torch.expm1"})
LOGARITHMS = frozenset({"torch.log", "torch.log2", "torch.log10"})
# Of these a selection by index or product is looked for; the others are everywhere.
STEEP = LOGARITHMS | {"torch.log1p", "torch.sqrt", "torch.rsqrt", "torch.reciprocal", "torch.acos", "torch.asin"}
# Through these a gradient of 0 stays 0, and so meets the infinite slope behind them.
THROUGH = frozenset({"torch.mul", "torch.pow", "torch.square", "torch.add", "torch.sub", "torch.neg", "torch.abs", "torch.log1p", "torch.div", "torch.log", "torch.clamp", "torch.clamp_min"})  # fmt: skip
GAPS, DEEPEST, QUOTED = ("nanmean", "nansum", "nanmedian", "nanquantile"), 5, 40


class WhereGradientTrap(Rule):
    """A result that breaks is thrown away, and its gradient is not.

    ## Why it hurts
    `where(x > 0, x.log(), 0)` picks the 0 where x is 0, so the forward is finite. The backward sends a gradient of 0 into
    the branch that was not picked, and there 0 times the infinite slope of the logarithm is NaN. `masked_fill`, `nan_to_num`, a
    clamp, a boolean index (`x.log()[x > 0]`, `y[x <= 0] = 0`) and a product with a mask hide it and stop no gradient either.

    ## Flagged
        y = torch.where(x > 0, x.log(), torch.zeros_like(x))
        z = x.log().masked_fill(x <= 0, 0.0)

    ## Instead
        y = torch.where(x > 0, torch.where(x > 0, x, 1.0).log(), torch.zeros_like(x))

    ## Silent when
    the operand is made safe first (the double where, or a clamp of it); when the condition does not speak of the operand; under `no_grad`, on
    detached values, and in code that no backward passes through by its name; at `info` where neither the name says so (`forward`, a loss) nor the file has a backward, and for clamps.

    ## Fix
    Safe: an inner `where` with the same condition gives the operation a harmless operand exactly where its result is
    thrown away. There is none for `nan_to_num` and clamps, which name no condition.
    """

    code = "NAN302"
    name = "where-gradient-trap"
    evidence = (items.LOST_AT_ONCE,)
    direction = Direction.BACKWARD
    calls = SELECTING | STEEP | {DIV}
    yields_to = frozenset({"NAN303"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge the selections of a function, at the first operation in it that can hide something or be hidden."""
        if not facts.could_train() or not facts.is_first(call, self.calls):
            return
        for chosen in facts.selections(*SELECTING, *BY_MASK):
            if not facts.is_recorded(chosen.call.node):
                continue
            behind = _breaking(facts.value_of(chosen.value).made_by, facts)
            for inner in islice((inner for inner in behind if _is_hidden(chosen, inner, facts)), 1):
                yield self._finding(chosen, inner, facts)

    def _finding(self, chosen: Selection, inner: Call, facts: Facts) -> Finding:
        word, edit = chosen.call.function.rpartition(".")[2], _edit(chosen, inner, facts)
        operand = inner.arguments[BREAKING[inner.function][0]]
        where = WORDS.get(chosen.call.function, f"`{word}`")
        # What a product with 0 leaves of an infinity is NaN already.
        spreads = chosen.call.function == PRODUCT and inner.function not in {"torch.sqrt", "torch.pow"}
        return self.finding(
            facts.span_of(chosen.call.node),
            f"{where} hides where `{facts.quote(inner.node, QUOTED)}` breaks, but its gradient there is 0 * inf: NaN",
            fix=safe("Make the operand harmless first", edit) if edit is not None else None,
            hazard=Hazard(inner.function, facts.source_of(operand), "outside its domain"),
            evidence=(items.MADE_SO,)
            if facts.has_gradient_behind(inner, BREAKING[inner.function][0])
            else (items.RARE,),
            direction=Direction.BOTH if spreads else Direction.BACKWARD,
        )


def _breaking(made_by: Call | None, facts: Facts, depth: int = 0) -> Iterator[Call]:
    """Of an operation and those behind it, the ones that have an infinite slope somewhere."""
    if made_by is None or not facts.is_here(made_by.node) or depth == DEEPEST:
        return
    if made_by.function in BREAKING:
        yield made_by
    if made_by.function in THROUGH:
        for operand in made_by.arguments.values():
            yield from _breaking(facts.value_of(operand).made_by, facts, depth + 1)


def _is_hidden(chosen: Selection, inner: Call, facts: Facts) -> bool:
    """Whether just those results of `inner` are thrown away that break."""
    operand, _ = BREAKING[inner.function]
    node, condition = inner.arguments.get(operand), chosen.condition
    # `y[n == 0] = 0` is about the quotient by n; other indices are not.
    is_set = chosen.call.function == PART and not chosen.holds and inner.function == DIV
    if chosen.call.function in BY_MASK and inner.function not in STEEP and not is_set:
        return False
    if node is None or facts.is_bounded(node) or not facts.breaks(inner, operand, facts.range_of(node)):
        return False
    if not facts.has_gradient(inner.node if inner.function == DIV else node):
        return False
    if condition is not None:
        kept = facts.range_where(node, condition, holds=chosen.holds)
        # A threshold against overflow lies above 0; another one is about something else.
        is_threshold = inner.function not in EXPONENTIALS or kept.high > 0
        return is_threshold and facts.is_kept_by(inner, operand, condition, holds=chosen.holds)
    if chosen.call.function == CLEAN:
        # Who leaves out NaN elsewhere has data with gaps, which is not trained.
        return inner.function not in EXPONENTIALS and facts.is_tensor(node) and not facts.mentions(*GAPS)
    floor = facts.constant_of(chosen.call.arguments.get("min"))
    return inner.function in LOGARITHMS and floor is not None and floor <= -20


def _edit(chosen: Selection, inner: Call, facts: Facts) -> Edit | None:
    """The operand, made harmless exactly where the result is thrown away."""
    operand, harmless = BREAKING[inner.function]
    node, condition, spelled = inner.arguments[operand], chosen.condition, facts.spelling_of(WHERE)
    if condition is None or spelled is None or chosen.call.function in BY_MASK:
        return None
    said, text = (facts.on_one_line(facts.source_of(part)) for part in (condition, node))
    is_apart = not facts.is_within(inner.node, chosen.call.node) or not facts.is_unchanged(condition, node)
    if said is None or text is None or is_apart:
        return None
    picked = f"{text}, {harmless}" if chosen.holds else f"{harmless}, {text}"
    return Edit(facts.span_of(node), f"{spelled}({said}, {picked})")
