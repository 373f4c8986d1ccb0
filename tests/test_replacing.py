"""The text that a fix puts in another's place: nothing is lost, and a copy means what the original meant."""

from __future__ import annotations

import pytest

from nanlint.engine.fixing.edits import apply_edits
from nanlint.testing import findings_in

PREAMBLE = "import torch\nimport torch.nn.functional as F\n\n"


def fixed(body: str) -> str | None:
    """The function after the fix of its logarithm of a softmax; None if there is no fix."""
    source = f"{PREAMBLE}def f(x: torch.Tensor) -> torch.Tensor:\n    {body}\n"
    (finding,) = findings_in(source, "NAN110")
    if finding.fix is None:
        return None
    text, *_ = apply_edits(source, [finding.fix])
    return text.partition("Tensor:\n    ")[2].rstrip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("return torch.log(x.softmax(-1))", "return x.log_softmax(-1)", id="function"),
        pytest.param("return x.softmax(-1).log()", "return x.log_softmax(-1)", id="method"),
        pytest.param("return (x * 1.0).softmax(-1).log()", "return (x * 1.0).log_softmax(-1)", id="brackets"),
        pytest.param("return -torch.log(x.softmax(-1)[0]) ** 2", "return -x.log_softmax(-1)[0] ** 2", id="inside"),
        pytest.param("return(x.softmax(-1)).log()", "return(x.log_softmax(-1))", id="a bracket that keeps words apart"),
        pytest.param(
            "return torch.log(\n        x.softmax(-1)  # why\n    )",
            "return (\n        x.log_softmax(-1)  # why\n    )",
            id="comment",
        ),
        pytest.param(
            "return torch.log(\n        x.softmax(-1),  # why\n    )",
            "return (\n        x.log_softmax(-1)  # why\n    )",
            id="comma",
        ),
        pytest.param(
            "return torch.log(input=\n        x.softmax(-1)  # why\n    )", None, id="a comment that would be lost"
        ),
    ],
)
def test_a_call_is_replaced_by_its_operand_without_losing_comments(before: str, after: str | None) -> None:
    assert fixed(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("p = x.softmax(-1)\n    return p.log()", "return x.log_softmax(-1)", id="unchanged"),
        pytest.param("p = x.softmax(-1)\n    x = x + 1\n    return p.log() + x", None, id="assigned"),
        pytest.param(
            "y = x\n    p = x.softmax(-1)\n    y.mul_(2)\n    return p.log()", None, id="changed under another name"
        ),
        pytest.param("p = F.dropout(x).softmax(-1)\n    return p.log()", None, id="drawn"),
        pytest.param(
            "for _ in range(2):\n        p = x.softmax(-1)\n        x = p.log()\n    return x",
            "for _ in range(2):\n        x = x.log_softmax(-1)\n    return x",
            id="in a loop",
        ),
    ],
)
def test_an_operation_is_written_again_where_it_would_be_the_same(before: str, after: str | None) -> None:
    assert fixed(before) == after
