"""Generated code: twice as much of it takes about twice the work, and it is judged up to its end.

Work is counted in calls of Python functions, so that no machine is too slow for these tests.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from nanlint.engine.check_file import check_text
from nanlint.engine.checker import Checker
from nanlint.settings import Settings
from tests.loops_told import loops_in

if TYPE_CHECKING:
    from types import FrameType

    from nanlint.engine.rules.ruleset import Ruleset

pytestmark = pytest.mark.slow

HEAD = "import torch\n"
FUNCTION = HEAD + "def f(x, y, w):\n"
TRAINING = HEAD + "def train(model, opt, loader, crit):\n    for x, y in loader:\n        loss = crit(model(x), y)\n"
STEP = "        loss.backward()\n        opt.step()\n"


def repeated(line: str, times: int) -> str:
    """The line with its number for each `#`, and the next number for `#+`."""
    return "".join(line.replace("#+", str(number + 1)).replace("#", str(number)) for number in range(times))


SHAPES = {
    "divisions": lambda n: FUNCTION + repeated("    a# = x[#] / y[#].sum()\n", n),
    "divisions and conditions": lambda n: (
        FUNCTION + repeated("    a# = x[#] / y[#].sum()\n    if x[#] > #: a# = w / x.sum()\n", n)
    ),
    "one name, assigned again and again": lambda n: (
        FUNCTION + repeated("    x += y / x.sum()\n    y[#] = x.log()\n", n)
    ),
    "branches that assign one name": lambda n: (
        FUNCTION
        + repeated("    if y[#]:\n        x = x + y\n    else:\n        x = x * y\n", n)
        + "    return x / x.sum()\n"
    ),
    "findings with fixes": lambda n: FUNCTION + repeated("    p# = x[#].softmax(-1)\n    l# = p#.log()\n", n),
    "returns": lambda n: FUNCTION + repeated("    if y == #:\n        return x / x.sum()\n", n),
    "helpers": lambda n: (
        HEAD + repeated("def f#(x):\n    return x.sum()\n", n) + "def g(x):\n" + repeated("    x = x / f#(x)\n", n)
    ),
    "loops": lambda n: FUNCTION + repeated("    for a in x#:\n        y = y / a.sum()\n        w += y.log()\n", n),
    "attempts": lambda n: (
        FUNCTION + repeated("    try:\n        x = x / x.sum()\n    except E#:\n        x = x.log()\n", n)
    ),
    "ways through a training loop": lambda n: (
        TRAINING + repeated("        if torch.isnan(loss): continue\n        if loss > #: break\n", n) + STEP
    ),
    "methods with one attribute": lambda n: (
        HEAD
        + "class A(torch.nn.Module):\n"
        + repeated("    def m#(self, x):\n        self.s = self.s + x.sum()\n        return x / self.s\n", n)
    ),
    "parameters": lambda n: (
        HEAD
        + "class A(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + repeated("        self.w# = torch.nn.Parameter(torch.empty(#))\n", n)
    ),
    "one sum": lambda n: FUNCTION + "    return " + repeated("x#.log() + ", n) + "x\n",
}


def work(text: str, ruleset: Ruleset) -> int:
    """How many Python functions are called to check a text, in which nothing may fail."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        result = check_text(text, "long.py", ruleset)
    finally:
        sys.setprofile(before)
    assert result.errors == []
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_code_is_about_twice_the_work(shape: str) -> None:
    ruleset = Checker(gated=True).ruleset(Settings())
    work(SHAPES[shape](2), ruleset)  # what is loaded once is loaded
    # Fixes are tried by interpreting the function again, up to a bound; what lies beyond it is not.
    sizes = (80, 160) if shape == "findings with fixes" else (40, 80)
    less, more = (work(SHAPES[shape](times), ruleset) for times in sizes)
    assert more < 3.2 * less


def test_a_long_function_is_judged_up_to_its_end() -> None:
    text = FUNCTION + repeated("    p# = x[#].softmax(-1)\n    l# = p#.log()\n", 400)
    result = check_text(text, "long.py", Checker(gated=True).ruleset(Settings()))
    assert [(each.code, each.span.line) for each in result.findings] == [("NAN110", 4 + 2 * n) for n in range(400)]


def test_a_loop_with_too_many_ways_through_it_has_none() -> None:
    text = TRAINING + repeated("        if torch.isnan(loss): continue\n        if loss > #: break\n", 300) + STEP
    (loop,) = loops_in(text)
    assert loop.paths == ()
