"""Code around which a rule offers a fix, in the many ways in which people write it: for tests that run it before and after.

A shape is one expression with an operand in it. It is written with other imports, as function or method, with arguments by
position or by name, in parentheses over several lines with comments, behind a walrus, within other calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Shape:
    """One fixable expression: `{x}` is its operand, `{dim}` where a dimension is given, `{torch}` and `{F}` the modules."""

    code: str
    expression: str
    operand: str = "real"
    """What the operand holds: any number, a share of one, or a number above 0."""
    breaks_at: float = 0.0
    """What an operand full of breaks it."""
    spread: float = 1.0
    """How far ordinary operands go."""


REAL, SHARE, POSITIVE = "real", "share", "positive"

SHAPES = [
    Shape("NAN110", "{torch}.log({torch}.softmax({x}, {dim}))", breaks_at=1e4),
    Shape("NAN110", "{torch}.softmax({x}, {dim}).log()", breaks_at=1e4),
    Shape("NAN110", "({x}).softmax({dim}).log()", breaks_at=1e4),
    Shape("NAN110", "{F}.softmax({x}, {dim}).log()", breaks_at=1e4),
    Shape("NAN110", "{torch}.log({torch}.sigmoid({x}))", breaks_at=-1e4),
    Shape("NAN110", "({x}).sigmoid().log()", breaks_at=-1e4),
    Shape("NAN110", "{torch}.log(1 - {torch}.sigmoid({x}))", breaks_at=1e4),
    Shape("NAN202", "{torch}.log({torch}.sum({torch}.exp({x}), {dim}))", breaks_at=1e3),
    Shape("NAN202", "({x}).exp().sum({dim}).log()", breaks_at=1e3),
    Shape("NAN202", "{torch}.log(1 + {torch}.exp({x}))", breaks_at=1e3),
    Shape("NAN202", "{torch}.log1p(({x}).exp())", breaks_at=1e3),
    Shape("NAN202", "{torch}.exp({x}) / {torch}.exp({x}).sum({dim}, keepdim=True)", breaks_at=1e3),
    Shape("NAN301", "{torch}.sqrt((({x}) ** 2).sum({dim}))"),
    Shape("NAN301", "({x}).pow(2).sum({dim}).sqrt()"),
    Shape("NAN301", "({x}).square().sum({dim}, keepdim=True).sqrt()"),
    Shape("NAN301", "{torch}.sum({x} * {x}, {dim}).sqrt()"),
    Shape("NAN302", "{torch}.where({x} > 0, {torch}.log({x}), 0.0)", breaks_at=0.0),
    Shape("NAN302", "{torch}.where({x} > 0, ({x}).sqrt(), 0.0)", breaks_at=0.0),
    Shape("NAN111", "-({x} * {torch}.log({x})).sum()", operand=SHARE),
    Shape("NAN111", "({x} * ({x}).log()).sum({dim})", operand=SHARE),
    Shape("NAN210", "{torch}.sqrt((({x}) ** 2).mean({dim}) - ({x}).mean({dim}) ** 2)", breaks_at=3.0),
    Shape("NAN102", "{torch}.log({torch}.relu({x}))", breaks_at=-1.0, operand=POSITIVE),
]

OPERANDS = ("x", "(x)", "x * 1.0", "x[...]", "x.contiguous()", "x + 0", "(\n        # as it comes\n        x\n    )")
DIMS = ("-1", "dim=-1", "1", "dim=1")
IMPORTS: dict[str, tuple[str, str, str]] = {
    "plain": ("import torch\nimport torch.nn.functional as F\n", "torch", "F"),
    "th": ("import torch as th\nfrom torch.nn import functional as F\n", "th", "F"),
    "long": ("import torch\n", "torch", "torch.nn.functional"),
    "nn": ("import torch\nfrom torch import nn\nimport torch.nn.functional\n", "torch", "nn.functional"),
}
FRAMES: dict[str, Callable[[str], str]] = {
    "returned": lambda text: f"    return {text}\n",
    "assigned": lambda text: f"    result = {text}\n    return result\n",
    "over lines": lambda text: f"    return (\n        # why not\n        {text}  # here\n    )\n",
    "walrus": lambda text: f"    if (result := {text}) is not None:\n        return result\n    return x\n",
    "nested": lambda text: f"    return abs(({text}) * 2.0) + 1\n",
    "semicolon": lambda text: f"    y = 1; result = {text}; return result * y\n",
}


@st.composite
def written(draw: st.DrawFn) -> tuple[Shape, str]:
    """A shape, and a module in which a function `f` of a tensor `x` holds it."""
    shape = draw(st.sampled_from(SHAPES))
    preamble, torch, functional = IMPORTS[draw(st.sampled_from(sorted(IMPORTS)))]
    operand = draw(st.sampled_from(OPERANDS)) if shape.expression.count("{x}") == 1 else "x"
    text = shape.expression.format(x=operand, dim=draw(st.sampled_from(DIMS)), torch=torch, F=functional)
    frame = FRAMES[draw(st.sampled_from(sorted(FRAMES)))]
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    module = f"{preamble}\n\ndef f(x: {torch}.Tensor):\n{frame(text)}"
    return shape, module.replace("\n", newline)
