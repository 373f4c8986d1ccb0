"""Into what no gradient passes, whoever calls: shown on projects of a few files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanlint.analysis.project.whole import WholeProject

if TYPE_CHECKING:
    from pathlib import Path

HELPER = "import torch\n\n\ndef sinc(t, power=1.0):\n    return torch.where(t == 0, 1.0, torch.sin(t) / t)\n"
HEADER = "import numpy as np\nimport torch\nimport torch.nn.functional as F\n"
CALLERS = [
    pytest.param(
        "from helper import sinc\n\ndef grid():\n    return sinc(torch.linspace(-3, 3, 7))\n", True, id="a grid"
    ),
    pytest.param("from helper import sinc\n\ndef drawn():\n    return sinc(torch.randn(3) * 2)\n", True, id="random"),
    pytest.param("from helper import sinc\n\ndef cut(x):\n    return sinc(x.detach())\n", True, id="detached"),
    pytest.param("import helper\n\ndef cut(x):\n    return helper.sinc(x.detach())\n", True, id="by its file"),
    pytest.param("from helper import sinc as f\n\ndef cut(x):\n    return f(x.detach())\n", True, id="by another name"),
    pytest.param(
        "from helper import sinc\n\ndef cut(x):\n    return sinc(x.detach()) + sinc(x)\n", False, id="one is not"
    ),
    pytest.param("from helper import sinc\n\ndef cut(x):\n    return sinc(x.detach()), sinc\n", False, id="handed on"),
    pytest.param("from helper import sinc\n\ndef cut(**all):\n    return sinc(**all)\n", False, id="all at once"),
    pytest.param("def other(x):\n    return x\n", False, id="nobody calls"),
    pytest.param(
        "from helper import sinc\n\ndef learned():\n    return sinc(torch.zeros(3, requires_grad=True))\n",
        False,
        id="a leaf",
    ),
    pytest.param(
        "from helper import sinc\n\ndef middle(x):\n    return sinc(F.relu(x))\n\ndef outer():\n    return middle(torch.ones(3))\n",
        True,
        id="two calls up",
    ),
    pytest.param("import torch\n\ndef other(x):\n    return torch.sinc(x)\n", False, id="torch's own"),
]


@pytest.mark.parametrize(("caller", "answer"), CALLERS)
def test_whether_a_gradient_passes_into_a_helper(caller: str, answer: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a column
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "caller.py").write_text(HEADER + caller)
    file = WholeProject(str(tmp_path)).file(str(tmp_path / "helper.py"), HELPER)
    assert file is not None
    quotient = file.op_at(5, 5, "torch.div")
    assert quotient is not None
    assert file.comes_without_gradient(quotient.operands["other"]) is answer


def test_of_a_file_alone_nobody_knows_who_calls(tmp_path: Path) -> None:
    text = HELPER + "\n\ndef grid():\n    return sinc(torch.ones(3))\n"
    file = WholeProject(str(tmp_path), is_project=False).file(str(tmp_path / "helper.py"), text)
    assert file is not None
    quotient = file.op_at(5, 5, "torch.div")
    assert quotient is not None
    assert not file.comes_without_gradient(quotient.operands["other"])


@pytest.mark.parametrize(
    ("caller", "answer"),
    [
        ("def shown(net, x):\n    with torch.no_grad():\n        print(sinc(net(x)))\n", True),
        ("@torch.no_grad()\ndef shown(net, x):\n    return middle(x)\n\ndef middle(x):\n    return sinc(x)\n", True),
        ("def shown(x):\n    with torch.no_grad():\n        print(sinc(x))\n    return sinc(x)\n", False),
        ("@torch.no_grad()\ndef shown(x):\n    return sinc(x)\n\nHELPERS = [sinc]\n", False),
    ],
)
def test_whether_a_gradient_comes_back_to_a_helper(caller: str, answer: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a column
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "caller.py").write_text(f"{HEADER}from helper import sinc\n\n{caller}")
    file = WholeProject(str(tmp_path)).file(str(tmp_path / "helper.py"), HELPER)
    assert file is not None
    quotient = file.op_at(5, 5, "torch.div")
    assert quotient is not None
    assert file.is_cut_off(quotient) is answer
