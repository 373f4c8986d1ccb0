"""NAN404 nan-check-misses-inf."""

from __future__ import annotations

import ast

from nanlint.rule import (
    Direction,
    Edit,
    Finding,
    Iterator,
    OpHazard,
    Rule,
    denied,
    every,
    half_checks,
    items,
    safe,
    word_set,
)

TESTS = ("torch.isnan", "torch.isinf", "torch.isfinite")
EXTREMES = ("torch.maximum", "torch.minimum")
# `max(x for ...)` of Python's own.
EXTREMES_OF_MANY = ("max", "min")
OPPOSITES = {ast.Gt: "<=", ast.GtE: "<"}


class NanCheckMissesInf(Rule):
    """A check for NaN that lets inf pass, or the other way round.

    ## Why it hurts
    An overflow gives inf one step before it gives NaN: `isnan(loss)` is False, the backward turns inf into NaN
    gradients, and the step writes them into every weight. A check for inf alone, or `loss > 1e6`, is False for NaN.

    ## Flagged
        if torch.isnan(loss):
            optimizer.zero_grad()
            continue
        loss.backward()

    ## Instead
        if not torch.isfinite(loss):
            optimizer.zero_grad()
            continue
        loss.backward()

    ## Silent when
    `isfinite` is asked, or both `isnan` and `isinf` (or a threshold beside `isnan`) about the same thing in one function;
    when the thing is not a loss, a gradient or a norm of one, by its name or because `backward()` starts there, or goes into `nanmean`; when the
    test decides nothing, as in a log line or a mask; in tests. `loss > 1e6` is flagged where it leaves the loop or the
    function, a comparison with NaN itself in any function that trains or names `nan`. Python's `max` and `min` lose a NaN that is
    not their first argument; flagged where one is written there, and at `info` for the largest of gradients; `info` too for a loss of a validation, which trains nothing, and for a check that only prints or counts. So is `isfinite(p.grad).any()`, which one element answers.

    ## Fix
    Safe: `not isfinite(...)` is the same answer for every finite value.
    """

    code = "NAN404"
    name = "nan-check-misses-inf"
    direction = Direction.LOOP
    hazards = (
        *(every(name, "input") for name in (*TESTS, *EXTREMES, "torch.gt", "torch.ge", "torch.eq", "torch.ne")),
        *(every(name, "0") for name in EXTREMES_OF_MANY),
    )
    beside = word_set("nan float backward manual_backward zero_grad clip_grad_norm_ grad isnan isinf isfinite")

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge one test for what is not finite, one comparison, or one of Python's own max and min."""
        if hazard.called in (*EXTREMES, *EXTREMES_OF_MANY):
            yield from self._check_extreme(hazard)
        elif isinstance(hazard.op.node, ast.Compare):
            yield from self._check_comparison(hazard, hazard.op.node)
        elif hazard.called in TESTS and not hazard.is_in_tests:
            yield from self._check_test(hazard)

    def _check_test(self, hazard: OpHazard) -> Iterator[Finding]:
        node = hazard.op.node
        if node is not None and half_checks.asks_for_one(node, hazard.code):
            message = f"`{hazard.quote(node, 40)}` asks for one element: the others may be NaN or inf"
            yield self.finding(hazard.span, message)
        found = half_checks.half_check(node, hazard.code) if node is not None else None
        if found is not None:
            yield self._missing(hazard, found, denied(hazard, "isfinite"))

    def _check_extreme(self, hazard: OpHazard) -> Iterator[Finding]:
        """`max(x, nan)`, and the largest of gradients by a comparison, which is False for NaN."""
        node = hazard.op.node
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return
        is_nan = any(half_checks.is_nan(each, hazard.code) for each in node.args)
        measured = not hazard.is_in_tests and any(half_checks.is_of_gradients(each, hazard.code) for each in node.args)
        if is_nan or measured:
            message = f"`{hazard.quote(node, 36)}` drops a NaN that does not come first: comparing it is False"
            yield self.finding(hazard.span, message, evidence=(items.RARE,) if not is_nan else ())

    def _check_comparison(self, hazard: OpHazard, node: ast.Compare) -> Iterator[Finding]:
        """Judge `x == nan`, `x != x` and `x > 1e6`."""
        if len(node.ops) != 1:
            return
        left, means, right = hazard.code.sides_of(node)
        sides, sign = (left, right), type(means)
        if sign in {ast.Eq, ast.NotEq} and any(half_checks.is_nan(side, hazard.code) for side in sides):
            always = "True" if sign is ast.NotEq else "False"
            yield self.finding(hazard.span, f"`{hazard.quote(node)}` is {always} for every value, NaN included")
        elif not hazard.is_in_tests and (sign in OPPOSITES or sign is ast.NotEq):
            found = half_checks.half_check(node, hazard.code)
            if found is not None and sign is ast.NotEq:
                yield self._missing(hazard, found, None)
            elif found is not None and found.condition.leaves and found.is_plain:
                one, other = (hazard.source.text_of(side) for side in sides)
                yield self._missing(hazard, found, Edit(hazard.span, f"not {one} {OPPOSITES[sign]} {other}"))

    def _missing(self, hazard: OpHazard, found: half_checks.HalfCheck, edit: Edit | None) -> Finding:
        thing = hazard.quote(found.subject, 25)
        text = hazard.quote(hazard.op.node, 40)
        message = f"`{text}` is False for {found.missed}, so a `{thing}` of {found.missed} passes this check"
        informs = found.condition.only_informs
        fix = safe("Ask whether it is finite", edit) if not informs else None
        evidence = (items.ONLY_LOGGED,) if informs else (items.RARE,) if found.is_aside else ()
        return self.finding(hazard.span, message, fix=fix, evidence=evidence)
