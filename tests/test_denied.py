"""A test for NaN is written as the denial of a test for what is finite, wherever it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanlint.engine.fixing.edits import apply_edits
from nanlint.engine.hazard_rules import file_in_project
from nanlint.hazards.find import hazards_in
from nanlint.hazards.fixes.denied import denied
from nanlint.rule import every, safe

if TYPE_CHECKING:
    from nanlint.model import Edit

PREAMBLE = "import math\nimport torch\n\n\n"


def denial(text: str) -> Edit | None:
    file = file_in_project("<string>", text)
    assert file is not None
    ((_, seen),) = hazards_in(file, {"torch.isnan": [every("torch.isnan", "input")]})
    assert seen.own is not None
    return denied(seen.own, "isfinite")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("if math.isnan(x): pass", "if not math.isfinite(x): pass", id="bool"),
        pytest.param("if not torch.isnan(x): pass", "if torch.isfinite(x): pass", id="not"),
        pytest.param("if torch.isnan(x).any(): pass", "if not torch.isfinite(x).all(): pass", id="any"),
        pytest.param(
            "if torch.any(torch.isnan(x)): pass", "if not torch.all(torch.isfinite(x)): pass", id="any function"
        ),
        pytest.param("if y or x.isnan().any().item(): pass", "if y or not x.isfinite().all().item(): pass", id="item"),
        pytest.param("if bool(torch.isnan(x)): pass", "if not bool(torch.isfinite(x)): pass", id="bool()"),
        pytest.param("z = torch.isnan(x)", "z = ~torch.isfinite(x)", id="mask"),
        pytest.param("z = torch.isnan(x).sum()", "z = (~torch.isfinite(x)).sum()", id="mask with a method"),
        pytest.param("z = ~torch.isnan(x)", "z = torch.isfinite(x)", id="denied mask"),
        pytest.param("z = torch.isnan(x) | y", "z = ~torch.isfinite(x) | y", id="mask in an expression"),
        pytest.param("z = math.isnan(x)", "z = not math.isfinite(x)", id="assigned bool"),
        pytest.param("z = 1 + math.isnan(x)", "z = 1 + (not math.isfinite(x))", id="bool in an expression"),
        pytest.param("if(torch.isnan(x)): pass", "if(not torch.isfinite(x)): pass", id="brackets"),
        pytest.param("assert not (torch.isnan(x)).any()", "assert torch.isfinite(x).all()", id="inner brackets"),
        pytest.param("any(math.isnan(v) for v in x)", "any(not math.isfinite(v) for v in x)", id="generator"),
    ],
)
def test_a_test_is_written_as_the_denial_of_its_opposite(before: str, after: str) -> None:
    text = f"{PREAMBLE}def f(x, y):\n    {before}\n"
    fix = safe("t", denial(text))
    assert fix is not None
    written, *_ = apply_edits(text, [fix])
    assert written == f"{PREAMBLE}def f(x, y):\n    {after}\n"


def test_where_a_comment_would_go_nothing_is_written() -> None:
    assert denial(f"{PREAMBLE}def f(x):\n    if torch.isnan(  # why\n        x\n    ): pass\n") is None
