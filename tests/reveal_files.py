"""The files of tests/ranges: what each `reveal(...)` line states, what nanlint knows there, and what torch computes.

A line reads `reveal(x.softmax(dim=-1))  # range: [0, 1]; dtype: float32`: one fact or several, each by its name. The
files are texts for nanlint and programs for torch: a top-level function whose parameters are all annotated is called
with a battery of values, and every revealed value is kept with its line.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections import defaultdict
from contextlib import suppress
from functools import cache
from inspect import Parameter, isfunction, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nanlint.facts.module_facts import ModuleFacts
from nanlint.ops.interval import Interval
from nanlint.source.outline import outline

if TYPE_CHECKING:
    from collections.abc import Callable

    import libcst as cst

    from nanlint.facts.values import Call

FOLDER = Path(__file__).parent / "ranges"
FILES = sorted(FOLDER.glob("*.py"))
# CUDA's autocast cannot be seen on a CPU, and some code is there to be read, not to be run.
NOT_RUN = frozenset({"autocast.py", "unknown.py"})
ROUNDS = 24
Fact = str | Interval


class Stated(NamedTuple):
    """One fact of one line."""

    path: Path
    line: int
    fact: str
    answer: str

    @property
    def place(self) -> str:
        return f"{self.path.name}:{self.line}"


def stated_in(path: Path) -> list[Stated]:
    """Every fact that the lines of a file state, in order."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        code, _, comment = line.partition("  # ")
        if "reveal(" not in code:
            continue
        facts = [part.partition(": ") for part in comment.split("; ")]
        found += [Stated(path, number, fact, answer) for fact, _, answer in facts]
    return found


def revealing_lines(path: Path) -> list[int]:
    """The line of every call of `reveal`, one entry per call."""
    calls = (node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Call))
    return sorted(call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "reveal")


# -- what nanlint knows ---------------------------------------------------------------------------------------


QUESTIONS: dict[str, Callable[[ModuleFacts, Call], Fact]] = {
    "range": lambda facts, call: facts.range_of(call.subject),
    "kind": lambda facts, call: facts.value_of(_revealed(call)).kind.value,
    "dtype": lambda facts, call: facts.dtype_of(call.subject) or "unknown",
    "gradient": lambda facts, call: "yes" if facts.has_gradient(_revealed(call)) else "no",
}


def _revealed(call: Call) -> cst.BaseExpression:
    return call.arguments["0"]


def written(fact: Fact) -> str:
    """A fact as a line states it; that a range holds integers alone is said behind it."""
    of_integers = isinstance(fact, Interval) and fact.integer and fact.low != fact.high
    return f"{fact} of integers" if of_integers else str(fact)


@cache
def known_in(path: Path) -> dict[tuple[int, str], Fact]:
    """Line and name of a fact -> nanlint's answer, for every `reveal(...)` that it reaches."""
    text = path.read_text(encoding="utf-8")
    facts = ModuleFacts(text, outline(text))
    found: dict[tuple[int, str], Fact] = {}
    for chunk in facts.outline.chunks:
        facts.enter(chunk)
        for call in facts.calls_of("reveal"):
            line = facts.span_of(call.node).line
            found |= {(line, fact): ask(facts, call) for fact, ask in QUESTIONS.items()}
    return found


# -- what torch computes --------------------------------------------------------------------------------------


@cache
def computed_in(path: Path) -> dict[int, list[Any]]:
    """Line -> what was revealed there while torch ran the file's functions."""
    found: dict[int, list[Any]] = defaultdict(list)

    def reveal(value: Any) -> Any:
        # A copy, since what is changed in place later was something else here.
        kept = value.clone() if hasattr(value, "clone") else value
        found[sys._getframe(1).f_lineno].append(kept)  # noqa: SLF001 - the line that revealed it
        return value

    names: dict[str, Any] = {"reveal": reveal, "__name__": path.stem}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(path.read_bytes(), str(path), "exec"), names)  # noqa: S102 - a file of this repository
        for function in [each for each in names.values() if isfunction(each) and each.__module__ == path.stem]:
            _call(function)
    return found


def _call(function: Callable[..., Any]) -> None:
    """Call a function that states what it takes with values of that sort, round by round."""
    wanted = list(signature(function, eval_str=True).parameters.values())
    if any(parameter.annotation is Parameter.empty for parameter in wanted if parameter.default is Parameter.empty):
        return
    given = [parameter for parameter in wanted if parameter.default is Parameter.empty]
    for turn in range(ROUNDS):
        # A guard that ends the function for these values is part of the specification.
        with suppress(ArithmeticError, AssertionError, ValueError):
            function(*(sample(parameter, turn, place) for place, parameter in enumerate(given)))


def sample(parameter: Parameter, turn: int, place: int) -> Any:
    """A value for a parameter: another one each turn, and the second parameter is not in step with the first."""
    samples = _samples(str(parameter.annotation) if parameter.name not in _TENSORS else parameter.name)
    value = samples[(turn * (place + 1) + place) % len(samples)]
    return value.clone() if hasattr(value, "clone") else value


_TENSORS = frozenset({"mask", "labels"})


@cache
def _samples(sort: str) -> list[Any]:
    import torch  # noqa: PLC0415 - only the truth of a file needs it

    if sort == "mask":
        drawn = torch.rand(4, 4, generator=torch.Generator().manual_seed(1)) < 0.5
        return [torch.zeros(4, 4, dtype=torch.bool), torch.ones(4, 4, dtype=torch.bool), torch.eye(4) > 0, drawn]
    if sort == "labels":
        return [torch.tensor(row) for row in ([0, 0, 0, 0], [0, 1, 2, 3], [3, 3, 3, 3], [-100, 1, 2, 2])]
    if "Tensor" in sort:
        return _tensors()
    numbers: dict[str, list[Any]] = {
        "<class 'bool'>": [True, False],
        "<class 'int'>": [0, 1, 2, 7, -3],
        "<class 'float'>": [0.0, 0.5, -2.0, 1e-9, 30.0, 1.0, -1e-3],
        "<class 'str'>": ["mean", "sum", ""],
        "<class 'object'>": [0, None, "text"],
    }
    return numbers[sort]


def _tensors() -> list[Any]:
    """Zeros, ones, equal rows, one-hot, small, large, saturated and random values, all with a gradient."""
    import torch  # noqa: PLC0415 - see above

    drawn = torch.randn(8, 4, 4, generator=torch.Generator().manual_seed(0))
    plain = [
        torch.zeros(4, 4), torch.ones(4, 4), -torch.ones(4, 4), torch.eye(4), torch.full((4, 4), 1e-9),
        torch.arange(16.0).view(4, 4) - 8, drawn[0, :1].expand(4, 4).contiguous(), drawn[1], drawn[2] * 10,
        drawn[3] * 200, drawn[4] * 1e-4, drawn[5].abs(), -drawn[6].abs(), drawn[7].round(),
    ]  # fmt: skip
    return [(tensor + 0).requires_grad_() for tensor in plain]
