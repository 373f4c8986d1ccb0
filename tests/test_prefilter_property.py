"""The prefilter may be too generous and never too strict: what it drops, no rule would have found.

On real code this is `benchmarks/prefilter.py`, which takes minutes; here the same comparison runs over what is at hand.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.prefilter import Comparison, compare_calls, compare_findings
from nanlint.ops.names import OPERATORS, SIGNATURES, UNARY_OPERATORS, spellings
from nanlint.prefilter.triggers import Prefilter, Trigger
from nanlint.settings import Settings
from nanlint.source.syntax.outline import outline
from nanlint.source.syntax.words import OPERATOR_WORDS

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parent.parent

# Four rules that fire on every log, exp, sqrt and tanh: on most files the shipped rules have nothing to say.
TALKATIVE = Settings(
    select=("ALL",), preview=True, severity="info", local_rules=(str(CHECKOUT / "tests" / "data" / "local_rules"),)
)


def _torch_files(*patterns: str) -> list[Path]:
    found = find_spec("torch")
    if found is None or found.origin is None:
        pytest.skip("torch is not installed, so its sources are not here to be compared")
    return [path for pattern in patterns for path in sorted(Path(found.origin).parent.glob(pattern))]


def _corpus(name: str) -> list[Path]:
    if name == "torch.distributions":
        return _torch_files("distributions/*.py")
    if name == "torch.nn":
        return _torch_files(
            "nn/functional.py", "nn/init.py", "nn/modules/[a-b]*.py", "nn/modules/loss.py", "nn/utils/*.py"
        )
    return [path for folder in name.split() for path in sorted((CHECKOUT / folder).rglob("*.py"))]


def _compare(paths: list[Path]) -> Comparison:
    total = Comparison()
    for path in paths:
        text = path.read_text(encoding="utf-8")
        found, differences = compare_findings(text, str(path), TALKATIVE)
        seen, overlooked = compare_calls(text)
        total.add(Comparison(1, text.count("\n"), found, seen.total(), [*differences, *overlooked]))
    return total


@pytest.mark.parametrize("corpus", ["fixtures", "nanlint/ops rules", "torch.distributions", "torch.nn"])
def test_the_prefilter_drops_nothing_that_a_rule_would_find(corpus: str) -> None:
    total = _compare(_corpus(corpus))
    print(f"{total.files} files, {total.lines} lines, {total.findings} findings, {total.calls} calls")
    assert total.differences == []


@pytest.mark.parametrize("broken", ["torch.log({})", "torch.sqrt({})", "x / {}", "torch.exp({})", "{} ** 0.5"])
def test_whatever_an_operation_makes_may_break_the_next(broken: str) -> None:
    operations = [name for name in SIGNATURES if name.startswith("torch.") and name.rpartition(".")[2].islower()]
    settings = Settings(select=("ALL",), preview=True, severity="info")
    found, differences = 0, list[str]()
    for first in range(0, len(operations), 50):  # in parts: what a rule asks of a class is asked of all its methods
        made = [f"{name}(x.square())" for name in operations[first : first + 50]]
        methods = (
            f"    def forward{place}(self, x): return {broken.format(text)}\n" for place, text in enumerate(made)
        )
        some, differing = compare_findings(
            f"import torch\nclass Pool(torch.nn.Module):\n{''.join(methods)}", "pool.py", settings
        )
        found, differences = found + some, [*differences, *differing]
    assert differences == []
    assert found > 10


# Each ends in a method that calls `torch.log` or `torch.log_softmax` without naming it.
OTHER_NAMES = {
    "import under another name": """
from torch import log as ln
class A:
    def f(self, x):
        return ln(x)
""",
    "module-level name": """
import torch
ln = torch.log
class A:
    def f(self, x):
        return ln(x)
""",
    "annotated module-level name": """
import torch
ln: object = torch.log
class A:
    def f(self, x):
        return ln(x)
""",
    "name of a name": """
import torch
first = torch.log
second = first
class A:
    def f(self, x):
        return second(x)
""",
    "one of two names": """
import torch
ln, unused = torch.log, torch.exp
class A:
    def f(self, x):
        return ln(x)
""",
    "walrus": """
import torch
print(ln := torch.log)
class A:
    def f(self, x):
        return ln(x)
""",
    "module in an attribute": """
import torch
class A(torch.nn.Module):
    def __init__(self):
        self.act = torch.nn.LogSoftmax(dim=-1)
    def f(self, x):
        return self.act(x)
""",
    "module in an annotated attribute": """
import torch
class A(torch.nn.Module):
    def __init__(self):
        self.act: torch.nn.Module = torch.nn.LogSoftmax(dim=-1)
    def f(self, x):
        return self.act(x)
""",
    "module in the class body": """
import torch
class A(torch.nn.Module):
    act = torch.nn.LogSoftmax(dim=-1)
    def f(self, x):
        return self.act(x)
""",
    "module at the end of a sequence": """
import torch
class A(torch.nn.Module):
    def __init__(self):
        self.head = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.LogSoftmax(dim=-1))
    def f(self, x):
        return self.head(x)
""",
    "module in a list": """
import torch
class A(torch.nn.Module):
    def __init__(self):
        self.heads = [torch.nn.LogSoftmax(dim=-1)]
    def f(self, x):
        return self.heads[0](x)
""",
    "module chosen by a condition": """
import torch
class A(torch.nn.Module):
    def __init__(self, plain):
        self.act = torch.nn.LogSoftmax(dim=-1) if plain else torch.nn.LogSoftmax(dim=0)
    def f(self, x):
        return self.act(x)
""",
    "module that a function makes": """
import torch
def make():
    return torch.nn.LogSoftmax(dim=-1)
class A(torch.nn.Module):
    def __init__(self):
        self.act = make()
    def f(self, x):
        return self.act(x)
""",
    "module that a function with the name of a class makes": """
import torch
def Normalized():
    return torch.nn.LogSoftmax(dim=-1)
class A(torch.nn.Module):
    def __init__(self):
        self.act = Normalized()
    def f(self, x):
        return self.act(x)
""",
    "module that a method makes": """
import torch
class A(torch.nn.Module):
    def __init__(self):
        self.act = self.make()
    def make(self):
        return torch.nn.LogSoftmax(dim=-1)
    def f(self, x):
        return self.act(x)
""",
    "module that a lambda makes": """
import torch
make = lambda: torch.nn.LogSoftmax(dim=-1)
class A(torch.nn.Module):
    def __init__(self):
        self.act = make()
    def f(self, x):
        return self.act(x)
""",
}


@pytest.mark.parametrize("text", OTHER_NAMES.values(), ids=OTHER_NAMES)
def test_a_call_under_another_name_is_shown(text: str) -> None:
    plan = outline(text)
    last = max(plan.chunks, key=lambda name: plan.chunks[name].first_line)
    words = spellings("torch.log") | spellings("torch.log_softmax")
    assert last in Prefilter([Trigger(words)]).chunks(plan)


def test_every_operator_of_the_op_table_is_a_word() -> None:
    assert {*OPERATORS, *UNARY_OPERATORS} - set(OPERATOR_WORDS.values()) == set()
