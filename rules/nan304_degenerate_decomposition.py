"""NAN304 degenerate-decomposition."""

from __future__ import annotations

import re

from nanlint.rule import Call, Direction, Facts, Finding, Hazard, Iterator, Rule, items, show

KINDS = {
    "torch.linalg.svd": "singular ",
    "torch.svd": "singular ",
    "torch.linalg.eigh": "eigen",
    "torch.linalg.eig": "eigen",
}
# `_, s, _ = svd(x)` and `values, _ = eigh(x)`.
VALUES_ALONE = re.compile(r"^\s*\(?(_\w*, *\w+, *_|\w+, *_)\w*\)? *=", re.MULTILINE)
QUOTED = 50


class DegenerateDecomposition(Rule):
    """A gradient through singular vectors or eigenvectors, which are not defined where two values are equal.

    ## Why it hurts
    The gradient of the vectors divides by the differences of the values. Two equal singular values, or two zero ones of a
    matrix that has not full rank, make it inf or NaN; the identity matrix is enough.

    ## Flagged
        u, s, v = torch.linalg.svd(features)
        loss = (u @ v).sum()

    ## Instead
        s = torch.linalg.svdvals(features)
        loss = s.sum()

    ## Silent when
    only the values are asked for (`svdvals`, `eigvalsh`, `compute_uv=False`); under `no_grad`, on detached values, in tests, and in
    code that no backward passes through by its name (initialisation, metrics, conversion). At `info` where the name does not say that one
    does (`forward`, a loss, a distance).

    ## Fix
    Sketch: whether the vectors are needed, or the matrix can be moved away from equal values, is for the author to say.
    """

    code = "NAN304"
    name = "degenerate-decomposition"
    direction = Direction.BACKWARD
    dtypes = ("float32", "float64")
    preview = True
    calls = frozenset(KINDS)
    beside = frozenset({"svd", "eigh", "eig"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one decomposition."""
        inner = call.subject
        if inner is None or not facts.may_train() or not facts.has_gradient(call.node) or not facts.has_gradient(inner):
            return
        if VALUES_ALONE.search(facts.source_of(facts.statement_of(call.node))):
            return
        wants_vectors = call.arguments.get("compute_uv")
        if wants_vectors is not None and facts.value_of(wants_vectors).constant is False:
            return
        kind = KINDS[call.function]
        message = f"`{facts.quote(inner, QUOTED)}` can have equal {kind}values: the gradient of its vectors is NaN"
        hazard = Hazard(call.function, facts.source_of(inner), "equal values")
        evidence = (items.RANGE_REACHES if facts.is_trained() else items.RARE,)
        fix = show(
            "svdvals or eigvalsh where the values are enough; else a small diagonal of different values is added"
        )
        yield self.finding(facts.span_of(call.node), message, fix=fix, hazard=hazard, evidence=evidence)
