"""NAN604 einsum-diagonal."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Facts, Finding, Iterator, Rule, show

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

    code = "NAN604"
    name = "einsum-diagonal"
    direction = Direction.BOTH
    calls = frozenset({"torch.einsum"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one einsum whose equation is written out."""
        equation = call.arguments.get("equation") or call.subject
        written = facts.value_of(equation).constant if equation is not None else None
        if equation is None or not isinstance(written, str) or facts.is_test():
            return
        inputs, _, output = written.replace(" ", "").partition("->")
        operands = inputs.split(",")
        doubled = next(
            (
                (operand, letter)
                for operand in operands
                for letter in operand
                if operand.count(letter) > 1 and letter.isalpha()
            ),
            None,
        )
        if doubled is None or len(operands) < 2 or _is_meant(call, facts):
            return
        operand, letter = doubled
        fix = show(f'torch.einsum("{_mixing(operands, operand, letter, output)}", ...)')
        message = f"repeated index `{letter}` in `{operand}` takes the diagonal, not a matrix product"
        yield self.finding(facts.span_of(equation), message, fix=fix)


def _is_meant(call: Call, facts: Facts) -> bool:
    said = f"{facts.comments_at(call.node)} {facts.function_name()}".lower()
    return "diag" in said or "trace" in said


def _mixing(operands: list[str], doubled: str, letter: str, output: str) -> str:
    """The equation that mixes: the second of the two letters becomes a new one, which the other operands have instead."""
    new = next(each for each in LETTERS if each not in "".join(operands) + output)
    first, _, rest = doubled.partition(letter)
    mixing = first + letter + rest.replace(letter, new, 1)
    others = [mixing if operand == doubled else operand.replace(letter, new) for operand in operands]
    return f"{','.join(others)}->{output}"
