"""Code around which a rule offers a fix, in the many ways in which people write it: for tests that run it before and after.

A shape is one expression with an operand in it. It is written with other imports, as function or method, with arguments by
position or by name, in parentheses over several lines with comments, behind a walrus, within other calls, twice in one
statement, in methods and decorated functions, with tabs, Windows line ends and letters beyond ASCII.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REAL, SHARE, POSITIVE = "real", "share", "positive"
Item = TypeVar("Item")


class Choose(Protocol):
    """Picks one of several: hypothesis, or a random number."""

    def __call__(self, items: Sequence[Item], /) -> Item: ...


@dataclass(frozen=True)
class Shape:
    """One fixable expression: `{x}` is its operand, `{dim}` where a dimension is given, `{torch}` and `{F}` the modules."""

    code: str
    expression: str
    operand: str = REAL
    """What the operand holds: any number, a share of one, or a number above 0."""
    breaks_at: float = 0.0
    """What an operand full of breaks it."""
    before: str = ""
    """Statements in front of the expression, one on a line; the function is given `x` and a boolean `mask`."""
    alternates: bool = False
    """Whether every other element of the breaking operand is 0."""
    is_single: bool = False
    """Whether it takes a single element to break it."""


SHAPES = [
    Shape("NAN101", "step / step.norm(dim=-1, keepdim=True)", before="step = {x} - mask.to(x)"),
    Shape("NAN101", "step / {torch}.linalg.vector_norm(step, dim=1, keepdim=True)", before="step = {x} - mask.to(x)"),
    Shape("NAN101", "(image - image.mean()) / image.std()", before="image = {x}"),
    Shape("NAN101", "({x} * mask).sum() / mask.sum()"),
    Shape("NAN101", "{torch}.div(({x} * mask).sum({dim}), mask.sum({dim}))"),
    Shape("NAN102", "{torch}.log({torch}.relu({x}))", POSITIVE, -1.0),
    Shape("NAN102", "10 * {torch}.log10(({x}).pow(2))"),
    Shape("NAN102", "({x}).square().sum({dim}).log2()"),
    Shape("NAN102", "({x}).abs().log()"),
    Shape("NAN103", "{torch}.sqrt(1 - {x} * {x})", SHARE, 2.0),
    Shape("NAN103", "(1.0 - ({x}).pow(2)) ** 0.5", SHARE, 2.0),
    Shape("NAN104", "{torch}.acos(({x}).clamp(-1, 1))", SHARE, 1.0),
    Shape("NAN104", "({x}).clamp(-1.0, 1.0).asin()", SHARE, 1.0),
    Shape("NAN104", "{torch}.atanh({torch}.tanh({x}))", breaks_at=1e3),
    Shape("NAN106", "(adv - adv.mean()) / (adv.std() + 1e-6)", is_single=True, before="adv = x.flatten()"),
    Shape("NAN106", "adv / (adv.std(dim=0) + 1e-8)", is_single=True, breaks_at=1.0, before="adv = x.flatten()"),
    Shape("NAN106", "{torch}.var(returns, dim=0)", is_single=True, before="returns = x.flatten()"),
    Shape(
        "NAN107",
        "{torch}.softmax(scores, {dim})",
        before="scores = {x}\nscores = scores.masked_fill(mask, float('-inf'))",
    ),
    Shape("NAN107", "{F}.softmax(kept, {dim})", before="kept = {torch}.where(mask, -{torch}.inf, x)"),
    Shape("NAN110", "{torch}.log({torch}.softmax({x}, {dim}))", breaks_at=1e4, alternates=True),
    Shape("NAN110", "{torch}.softmax({x}, {dim}).log()", breaks_at=1e4, alternates=True),
    Shape("NAN110", "({x}).softmax({dim}).log()", breaks_at=1e4, alternates=True),
    Shape("NAN110", "{F}.softmax({x}, {dim}).log()", breaks_at=1e4, alternates=True),
    Shape("NAN110", "probs.log()", breaks_at=1e4, alternates=True, before="probs = {torch}.softmax({x}, {dim})"),
    Shape("NAN110", "{torch}.log(probs)", breaks_at=1e4, alternates=True, before="probs = ({x}).softmax({dim})"),
    Shape("NAN110", "{torch}.log({torch}.sigmoid({x}))", breaks_at=-1e4),
    Shape("NAN110", "({x}).sigmoid().log()", breaks_at=-1e4),
    Shape("NAN110", "{torch}.log(1 - {torch}.sigmoid({x}))", breaks_at=1e4),
    Shape("NAN110", "(1 - p).log() + p.log()", breaks_at=1e4, before="p = ({x}).sigmoid()"),
    Shape("NAN110", "{torch}.log1p(-{torch}.sigmoid({x}))", breaks_at=1e4),
    Shape("NAN111", "-({x} * {torch}.log({x})).sum()", SHARE),
    Shape("NAN111", "({x} * ({x}).log()).sum({dim})", SHARE),
    Shape("NAN111", "(p * {torch}.log(p / (q + 1e-8))).sum()", SHARE, before="p, q = x, x.detach() * 0.5"),
    Shape("NAN112", "{torch}.log(({x}).prod({dim}))", POSITIVE, 1e-20),
    Shape("NAN112", "({x}).cumprod({dim}).log()", POSITIVE, 1e-20),
    Shape("NAN201", "{torch}.exp(0.5 * logvar)", breaks_at=1e3, before="logvar = {x}"),
    Shape("NAN201", "(logp - old_logp).exp()", breaks_at=1e3, before="logp, old_logp = x, x.detach() * 0"),
    Shape("NAN202", "{torch}.log({torch}.sum({torch}.exp({x}), {dim}))", breaks_at=1e3),
    Shape("NAN202", "({x}).exp().sum({dim}).log()", breaks_at=1e3),
    Shape("NAN202", "{torch}.log(1 + {torch}.exp({x}))", breaks_at=1e3),
    Shape("NAN202", "{torch}.log1p(({x}).exp())", breaks_at=1e3),
    Shape("NAN202", "{torch}.exp({x}) / {torch}.exp({x}).sum({dim}, keepdim=True)", breaks_at=1e3),
    Shape("NAN202", "1 / (1 + {torch}.exp(-{x}))", breaks_at=-1e3),
    Shape("NAN202", "e / e.sum({dim}, keepdim=True)", breaks_at=1e3, before="e = {torch}.exp({x})"),
    Shape("NAN203", "{torch}.log(1 - p.clamp(1e-8, 1 - 1e-8))", SHARE, 1.0, before="p = {x}"),
    Shape("NAN203", "half / (half + 1e-8)", before="half = ({x}).half().abs()"),
    Shape("NAN203", "{F}.normalize(half, dim=-1)", before="half = ({x}).half()"),
    Shape("NAN204", "{F}.layer_norm({x}, (4,), eps=0)", breaks_at=3.0),
    Shape("NAN204", "{F}.rms_norm({x}, (4,), eps=0.0)"),
    Shape("NAN204", "row * {torch}.rsqrt(row.pow(2).mean({dim}, keepdim=True) + 1e-9)", before="row = {x}"),
    Shape("NAN204", "row / {torch}.sqrt(row.var({dim}, keepdim=True) + 1e-10)", before="row = {x}"),
    Shape("NAN205", "{torch}.softmax(scores.masked_fill(mask, -1e9), {dim})", before="scores = ({x}).half()"),
    Shape("NAN207", "half.pow(2).sum({dim})", breaks_at=1e3, before="half = ({x}).half()"),
    Shape("NAN207", "{torch}.square(({x}).half())", breaks_at=1e3),
    Shape("NAN210", "{torch}.sqrt((({x}) ** 2).mean({dim}) - ({x}).mean({dim}) ** 2)", breaks_at=3.0),
    Shape("NAN210", "(({x}).pow(2).mean({dim}) - ({x}).mean({dim}).pow(2)).sqrt()", breaks_at=3.0),
    Shape("NAN210", "(({x}).square().mean({dim}) - ({x}).mean({dim}).square()) ** 0.5", breaks_at=3.0),
    Shape("NAN211", "{torch}.sqrt(({x} * {x}).sum({dim})) + 1e-6"),
    Shape("NAN211", "({x}).pow(2).sum({dim}).sqrt() + 1e-6"),
    Shape("NAN211", "{torch}.log({x}) + 1e-8", SHARE),
    Shape("NAN211", "1e-6 + ({x}).square().mean({dim}).rsqrt()"),
    Shape("NAN211", "({x}).pow(2).sum({dim}).sqrt() + eps", before="eps = 1e-8"),
    Shape("NAN301", "{torch}.sqrt((({x}) ** 2).sum({dim}))"),
    Shape("NAN301", "({x}).pow(2).sum({dim}).sqrt()"),
    Shape("NAN301", "({x}).square().sum({dim}, keepdim=True).sqrt()"),
    Shape("NAN301", "{torch}.sum({x} * {x}, {dim}).sqrt()"),
    Shape("NAN301", "({x}).square().sum({dim}) ** 0.5"),
    Shape("NAN301", "{torch}.pow(({x}).pow(2).sum(), 0.5)"),
    Shape("NAN301", "({x}).var({dim}).sqrt()", breaks_at=3.0),
    Shape("NAN302", "{torch}.where({x} > 0, {torch}.log({x}), 0.0)"),
    Shape("NAN302", "{torch}.where({x} > 0, ({x}).sqrt(), 0.0)"),
    Shape("NAN302", "{torch}.where({x} <= 0, {torch}.zeros_like({x}), {torch}.log({x}))"),
    Shape("NAN302", "({x}).log().masked_fill({x} <= 0, 0.0)"),
    Shape("NAN302", "{torch}.where({x} != 0, 1.0 / {x}, {torch}.zeros_like({x}))"),
    Shape("NAN303", "grown * {torch}.isfinite(grown)", breaks_at=1.0, before="grown = {torch}.exp(x.detach() * 1000)"),
]

OPERANDS = ("x", "(x)", "x * 1.0", "x[...]", "x.contiguous()", "x + 0", "(\n        # as it comes\n        x\n    )")
DIMS = ("-1", "dim=-1", "1", "dim=1")
IMPORTS: dict[str, tuple[str, str, str]] = {
    "plain": ("import torch\nimport torch.nn.functional as F\n", "torch", "F"),
    "th": ("import torch as th\nfrom torch.nn import functional as F\n", "th", "F"),
    "long": ("import torch\n", "torch", "torch.nn.functional"),
    "nn": ("import torch\nfrom torch import nn\nimport torch.nn.functional\n", "torch", "nn.functional"),
    "docs": (
        '"""Längen, 長さ."""\n\nfrom __future__ import annotations\n\nimport torch\n',
        "torch",
        "torch.nn.functional",
    ),
}
FRAMES: dict[str, Callable[[str], str]] = {
    "returned": lambda text: f"    return {text}\n",
    "assigned": lambda text: f"    result = {text}\n    return result\n",
    "over lines": lambda text: f"    return (\n        # why not: ü\n        {text}  # here\n    )\n",
    "walrus": lambda text: f"    if (result := {text}) is not None:\n        return result\n    return x\n",
    "nested": lambda text: f"    return abs(({text}) * 2.0) + 1\n",
    "semicolon": lambda text: f"    y = 1; result = {text}; return result * y\n",
    "non-ASCII": lambda text: f'    größe = "é — 長さ"; result = {text}; return result * len(größe[:1])\n',
    "twice": lambda text: f"    return ({text}) + ({text})\n",
    "in a list": lambda text: f"    return sum([\n        {text},  # first\n        {text},\n    ])\n",
}
PLACES: dict[str, Callable[[str, str], str]] = {
    "function": lambda head, body: f"def f{head}:\n{body}",
    "decorated": lambda head, body: f"def same(f):\n    return f\n\n\n@same\ndef f{head}:\n{body}",
    "method": lambda head, body: f"class Loss:\n    def f(self, {head[1:]}:\n{_deeper(body)}\n\nf = Loss().f\n",
    "within": lambda head, body: f"def f{head}:\n    def g{head}:\n{_deeper(body)}\n    return g(x, mask)\n",
}


def _deeper(body: str) -> str:
    return "".join(f"    {line}" for line in body.splitlines(keepends=True))


def write(shape: Shape, choose: Choose) -> str:
    """A module in which a function `f` of a tensor `x` and a boolean tensor `mask` holds the shape."""
    preamble, torch, functional = IMPORTS[choose(sorted(IMPORTS))]
    uses = shape.expression.count("{x}") + shape.before.count("{x}")
    names = {"x": choose(OPERANDS) if uses == 1 else "x", "dim": choose(DIMS), "torch": torch, "F": functional}
    before = "".join(f"    {line.format(**names)}\n" for line in shape.before.splitlines())
    body = before + FRAMES[choose(sorted(FRAMES))](shape.expression.format(**names))
    head = f"(x: {torch}.Tensor, mask: {torch}.Tensor)"
    module = f"{preamble}\n\n{PLACES[choose(sorted(PLACES))](head, body)}"
    if choose([False, True, False]):
        module = module.replace("    ", "\t")
    return module.replace("\n", choose(["\n", "\r\n"]))


@st.composite
def written(draw: st.DrawFn) -> tuple[Shape, str]:
    """A shape, and a module that holds it."""
    shape = draw(st.sampled_from(SHAPES))
    return shape, write(shape, lambda items: draw(st.sampled_from(items)))
