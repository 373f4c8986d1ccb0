"""Branches that all callers of a project leave aside, and what is told of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanlint.analysis.project.whole import WholeProject
from nanlint.api import check_paths
from nanlint.hazards.never_run import is_never_run

if TYPE_CHECKING:
    from pathlib import Path

HELPER = """import torch


def expected(x, measure, average=True):
    if measure == "JSD":
        return x.sum()
    elif measure in ("X2", "KL"):
        return torch.sqrt(x**2)
    return x
"""
CALLERS = [
    pytest.param("from helper import expected\n\ndef f(x):\n    return expected(x, 'JSD')\n", True, id="one constant"),
    pytest.param(
        "from helper import expected\n\ndef f(x):\n    m = 'JSD'\n    return expected(x, measure=m)\n",
        True,
        id="by name",
    ),
    pytest.param("from helper import expected\n\ndef f(x):\n    return expected(x, 'KL')\n", False, id="that branch"),
    pytest.param(
        "from helper import expected\n\ndef f(x):\n    return expected(x, 'JSD') + expected(x, 'KL')\n",
        False,
        id="one of two",
    ),
    pytest.param(
        "from helper import expected\n\ndef f(x, args):\n    return expected(x, args.m)\n", False, id="a setting"
    ),
    pytest.param(
        "from helper import expected\n\ndef g(x, m):\n    return expected(x, m)\n\ndef f(x):\n    return g(x, 'DV')\n",
        True,
        id="passed on",
    ),
    pytest.param(
        "from helper import expected\n\ndef dead(x, m):\n    return expected(x, m)\n\ndef f(x):\n    return expected(x, 'DV')\n",
        True,
        id="and by one that nobody names",
    ),
    pytest.param(
        "from helper import expected\n\ndef dead(x, m):\n    return expected(x, m)\n", False, id="nobody at all"
    ),
    pytest.param(
        "from helper import expected\n\ndef f(x):\n    return expected(x, 'JSD'), expected\n", False, id="handed on"
    ),
    pytest.param(
        "def expected(x, m):\n    return x\n\ndef f(x):\n    return expected(x, 'JSD')\n", False, id="another one"
    ),
]


@pytest.mark.parametrize(("caller", "answer"), CALLERS)
def test_whether_a_branch_is_left_aside(caller: str, answer: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a column
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "caller.py").write_text("import torch\n" + caller)
    file = WholeProject(str(tmp_path)).file(str(tmp_path / "helper.py"), HELPER)
    assert file is not None
    root, function = file.op_at(8, 8, "torch.sqrt"), file.module.functions["expected"]
    assert root is not None
    assert is_never_run(root, function, file) is answer


FLAGS = [
    ("flag=False", "if flag:", "", True),
    ("flag=False", "if flag:", ", flag=True", False),
    ("flag=False", "if flag:", ", **kw", False),
    ("flag=True", "if not flag:", "", True),
    ("flag=None", "if flag is not None:", "", True),
    ("flag=None", "if flag is None:", "", False),
    ("flag=0", "if flag > 0:", "", True),
    ("flag=0", "if flag > 0:", ", 2", False),
    ("flag='mean'", "if flag != 'mean':", "", True),
    ("*, flag=0", "if flag:", "", True),
    ("flag=SIZE", "if flag:", "", False),
    ("flag", "if flag:", ", False", True),
]


@pytest.mark.parametrize(("parameter", "test", "passed", "answer"), FLAGS)
def test_whether_a_flag_is_left_at_its_default(
    tmp_path: Path, parameter: str, test: str, passed: str, *, answer: bool
) -> None:
    code = f"import torch\n\ndef expected(x, {parameter}):\n    {test}\n        return torch.sqrt(x**2)\n    return x\n"
    (tmp_path / "helper.py").write_text(code)
    (tmp_path / "caller.py").write_text(
        f"import torch\nfrom helper import expected\n\ndef f(x, kw):\n    return expected(x{passed})\n"
    )
    file = WholeProject(str(tmp_path)).file(str(tmp_path / "helper.py"), code)
    assert file is not None
    root = file.op_at(5, 5, "torch.sqrt")
    assert root is not None
    assert is_never_run(root, file.module.functions["expected"], file) is answer


OF_AN_OBJECT = [
    ("self.average", "Loss()", "", True),
    ("not self.average", "Loss()", "", False),
    ("self.kind == 'KL'", "Loss(kind='JSD')", "", True),
    ("self.kind == 'KL'", "Loss(kind=args.kind)", "", False),
    ("self.average", "Loss(True)", "", False),
    ("self.average", "Loss()", "loss.average = True", False),
]


@pytest.mark.parametrize(("test", "built", "changed", "answer"), OF_AN_OBJECT)
def test_so_it_is_by_what_all_objects_are_built_with(
    test: str,
    built: str,
    changed: str,
    answer: bool,  # noqa: FBT001 - a column
    tmp_path: Path,
) -> None:
    text = (
        "import torch\nclass Loss:\n    def __init__(self, average=False, kind='KL'):\n        self.average = average\n        self.kind = kind\n"
        f"    def shares(self, x):\n        if {test}:\n            return torch.sqrt(x)\n        return x\n"
        f"def run(x, args):\n    loss = {built}\n    {changed or 'pass'}\n    return loss.shares(x)\n"
    )
    (tmp_path / "loss.py").write_text(text)
    file = WholeProject(str(tmp_path)).file(str(tmp_path / "loss.py"), text)
    assert file is not None
    root, function = file.op_at(8, 8, "torch.sqrt"), file.module.classes["Loss"].methods["shares"]
    assert root is not None
    assert is_never_run(root, function, file) is answer


FLOW = """import torch
class Flow(torch.nn.Module):
    def __init__(self, mean_only=False):
        super().__init__()
        self.mean_only = mean_only
    def forward(self, x, stats):
        if not self.mean_only:
            mean, logs = stats.chunk(2, 1)
        else:
            mean, logs = stats, torch.zeros_like(stats)
        return mean + x * torch.exp(logs)
def run(x, stats):
    return Flow(ONLY)(x, stats)
"""


@pytest.mark.parametrize(("only", "count"), [("True", 0), ("False", 1), ("x.flag", 1)])
def test_what_only_such_a_branch_gives_breaks_nothing_behind_it(only: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "nanlint.toml").write_text('severity = "info"\nselect = ["NAN201"]\n')
    (tmp_path / "flow.py").write_text(FLOW.replace("ONLY", only))
    assert len(check_paths([tmp_path]).findings) == count


IN_A_LOOP = """import torch
def _share(x, mode=None):
    if mode is None:
        return x / x.sum()
    return x
def run(xs):
    mode = None
    for x in xs:
        y = _share(x, mode)
        mode = x if mode is None else mode
    return y
"""


def test_a_condition_that_a_loop_changes_is_followed_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "nanlint.toml").write_text('severity = "info"\nselect = ["NAN101"]\n')
    (tmp_path / "loop.py").write_text(IN_A_LOOP)
    report = check_paths([tmp_path])
    assert [finding.code for finding in report.findings] == ["NAN101"]
    assert not report.errors
