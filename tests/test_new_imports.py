"""A fix that needs torch imports it, once and behind the other imports, where a file has parts of torch only."""

from __future__ import annotations

import ast

import pytest

from nanlint.engine.apply_fixes import fix_text
from nanlint.model import Applicability
from nanlint.testing import findings_in

FUNCTION = """

def distance(x: Tensor, y: Tensor) -> Tensor:
    return (x - y).pow(2).sum(-1).sqrt()
"""
MENDED = "    return torch.linalg.vector_norm(x - y, dim=-1)\n"


def fixed(text: str) -> str:
    return fix_text(
        text,
        lambda draft: findings_in(draft, "NAN301"),
        lambda fix: fix.applicability is Applicability.SAFE,
        parses=lambda draft: bool(ast.parse(draft)),
    ).text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from torch import Tensor\n", "from torch import Tensor\nimport torch\n", id="behind the only one"
        ),
        pytest.param(
            '"""Why."""\nfrom __future__ import annotations\n\nimport math\nfrom torch import Tensor\n\nEPS = 1\n',
            '"""Why."""\nfrom __future__ import annotations\n\nimport math\nfrom torch import Tensor\nimport torch\n\nEPS = 1\n',
            id="behind docstring and __future__",
        ),
        pytest.param(
            "from torch import nn, Tensor\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n",
            "from torch import nn, Tensor\nfrom typing import TYPE_CHECKING\nimport torch\nif TYPE_CHECKING:\n    import torch\n",
            id="not among imports for types only",
        ),
        pytest.param("import torch as th\nfrom torch import Tensor\n", "", id="none where torch has another name"),
        pytest.param("import torch\nfrom torch import Tensor\n", "", id="none where torch is there"),
    ],
)
def test_the_import_stands(before: str, after: str) -> None:
    mended = MENDED.replace("torch", "th") if "as th" in before else MENDED
    expected = (after or before) + FUNCTION.rpartition("    return")[0] + mended
    assert fixed(before + FUNCTION) == expected


def test_two_fixes_share_one_import() -> None:
    text = fixed("from torch import Tensor\n" + FUNCTION + FUNCTION.replace("distance", "other"))
    assert text.count("import torch\n") == 1
    assert text.count("torch.linalg.vector_norm") == 2


def test_windows_line_ends_are_kept() -> None:
    text = fixed(("from torch import Tensor\n" + FUNCTION).replace("\n", "\r\n"))
    assert "import torch\r\n" in text
    assert "\n" not in text.replace("\r\n", "")


def test_a_name_that_is_taken_is_not_imported() -> None:
    source = "from torch import Tensor\n\ndef torch():\n    return 1\n" + FUNCTION
    assert "import torch\n" not in fixed(source)
