"""NAN304 degenerate-decomposition."""

from __future__ import annotations

from nanlint.rule import Direction, Finding, Iterator, OpHazard, Rule, items, show, uses, word_set, zone

# The decompositions, with the places of the vectors in what they return.
SVD, EIG = word_set("0 2"), frozenset({"1"})
VECTORS = {"torch.linalg.svd": SVD, "torch.svd": SVD, "torch.linalg.eigh": EIG, "torch.linalg.eig": EIG}
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
    only the values are used (`svdvals`, `eigvalsh`, `compute_uv=False`, `_, s, _ = svd(x)`); under `no_grad`, on detached values, and
    where no gradient comes back to the vectors. At `info` where nothing shows that one does.

    ## Fix
    Sketch: whether the vectors are needed, or the matrix can be moved away from equal values, is for the author to say.
    """

    code, name = "NAN304", "degenerate-decomposition"
    direction = Direction.BACKWARD
    dtypes = ("float32", "float64")
    preview = True
    hazards = tuple(zone(operation, "input") for operation in VECTORS)

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one decomposition whose vectors are used."""
        if not uses.uses_part(hazard, VECTORS[hazard.op.function]):
            return
        kind = "singular " if "svd" in hazard.op.function else "eigen"
        yield self.told(
            hazard,
            f"`{hazard.operand.quoted(QUOTED)}` can have equal {kind}values: the gradient of its vectors is NaN",
            fix=show(
                "svdvals or eigvalsh where the values are enough; else a small diagonal of different values is added"
            ),
            evidence=(items.MADE_SO,),
        )
