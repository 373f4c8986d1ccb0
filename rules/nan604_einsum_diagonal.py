"""NAN604 einsum-diagonal."""

from __future__ import annotations

from nanlint.rule import Direction, Finding, Iterator, OpHazard, Rule, every, show

LETTERS = "mnpqrstuvwxyzabcdefghijkl"


class EinsumDiagonal(Rule):
    """A subscript stands twice in one operand of an einsum, which takes its diagonal.

    ## Why it hurts
    `"bnn,bnchw->bnchw"` reads as if the n streams were mixed by an n by n matrix. It multiplies each stream by its own entry on the
    diagonal and drops the rest: what was computed and normalised as a routing matrix routes nothing, and no error says so.

    ## Flagged
        streams = torch.einsum("bnn,bnchw->bnchw", routing, streams)

    ## Instead
        streams = torch.einsum("bnm,bmchw->bnchw", routing, streams)

    ## Silent when
    there is one operand, as in a trace (`"ii"`) or a diagonal (`"bii->bi"`): that is what the notation is for; when the
    equation is not written out; when a comment or a name says diagonal or trace; in tests.

    ## Fix
    Sketch: another letter in the second place, and in the operand that is summed over.
    """

    code, name = "NAN604", "einsum-diagonal"
    direction = Direction.BOTH
    hazards = (every("torch.einsum", "equation"),)

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Read one equation that is written out."""
        written = hazard.operand.value.constant
        if not isinstance(written, str) or hazard.is_in_test:
            return
        inputs, _, output = written.replace(" ", "").partition("->")
        operands = inputs.split(",")
        pairs = ((operand, letter) for operand in operands for letter in operand)
        doubled = next(((whole, each) for whole, each in pairs if whole.count(each) > 1 and each.isalpha()), None)
        is_meant = "diag" in hazard.said or "trace" in hazard.said
        if doubled is None or len(operands) < 2 or is_meant:
            return
        operand, letter = doubled
        yield self.told(
            hazard,
            f"repeated index `{letter}` in `{operand}` takes the diagonal, not a matrix product",
            at=hazard.operand.span,
            fix=show(f'torch.einsum("{_mixing(operands, operand, letter, output)}", ...)'),
        )


def _mixing(operands: list[str], doubled: str, letter: str, output: str) -> str:
    """The equation that mixes: the second of the two letters becomes a new one, which the other operands have instead."""
    new = next(each for each in LETTERS if each not in "".join(operands) + output)
    first, _, rest = doubled.partition(letter)
    mixing = first + letter + rest.replace(letter, new, 1)
    others = [mixing if operand == doubled else operand.replace(letter, new) for operand in operands]
    return f"{','.join(others)}->{output}"
