"""Ranges hold in float arithmetic, not in the reals: values round, vanish and overflow, each dtype in its own way."""

import torch
import torch.nn.functional as F


def rounding_to_the_ends(x: torch.Tensor) -> None:
    reveal(1 - x.sigmoid())  # range: [0, 1]
    reveal((1 - x.sigmoid()).log())  # range: [-inf, 0]
    reveal(1 - x.softmax(-1))  # range: [0, 1]
    reveal(x.softmax(-1).log())  # range: [-inf, 0]
    reveal(1 - x.tanh().square())  # range: [0, 1]
    reveal(x.tanh().atanh())  # range: [-inf, inf]
    reveal(x.exp().log())  # range: [-inf, inf]
    reveal(1 / x.exp())  # range: [0, inf]
    reveal(x.exp() + 1)  # range: [1, inf]
    reveal((x.exp() + 1).log())  # range: [0, inf]
    reveal(1 / (1 + (-x).exp()))  # range: [0, 1]
    reveal((-x.abs()).exp().log1p())  # range: [0, 0.693148]
    reveal(x.exp() - x.exp())  # range: [-inf, inf] or nan
    reveal(x.exp() * 0)  # range: [0, 0] or nan
    reveal(x.exp().clamp(max=1e4))  # range: [0, 10000]
    reveal(x.clamp(max=80).exp())  # range: [0, 5.54062e+34]
    reveal(x.clamp(max=100).exp())  # range: [0, inf]


def in_float16(x: torch.Tensor) -> None:
    h = x.half()
    reveal(h)  # dtype: float16
    reveal(h.sigmoid())  # range: [0, 1]; dtype: float16
    reveal(h.sigmoid() + 1e-8)  # range: [0, 1]; dtype: float16
    reveal(h.sigmoid() + 1e-7)  # range: [1.19209e-07, 1]; dtype: float16
    reveal(h.sigmoid().clamp(min=1e-8))  # range: [0, 1]; dtype: float16
    reveal(h.sigmoid().clamp(min=1e-6))  # range: [1.01328e-06, 1]; dtype: float16
    reveal(h.sigmoid().clamp(max=1 - 1e-4))  # range: [0, 1]; dtype: float16
    reveal(h.sigmoid().clamp(max=1 - 1e-3))  # range: [0, 0.999023]; dtype: float16
    reveal(h.clamp(-10, 10).exp())  # range: [4.50015e-05, 22112]; dtype: float16
    reveal(h.clamp(max=12).exp())  # range: [0, inf]; dtype: float16
    reveal(h.sigmoid() * 70000)  # range: [0, inf]; dtype: float16
    reveal(1 / (h.sigmoid() + 1e-5))  # range: [1, inf]; dtype: float16
    reveal(h.relu() + 1e-8)  # range: [0, inf); dtype: float16
    reveal(h.float().relu() + 1e-8)  # range: [1e-08, inf); dtype: float32


def in_bfloat16(x: torch.Tensor) -> None:
    b = x.bfloat16()
    reveal(b.sigmoid() + 1e-8)  # range: [1.00117e-08, 1]; dtype: bfloat16
    reveal(b.sigmoid().clamp(max=1 - 1e-3))  # range: [0, 1]; dtype: bfloat16
    reveal(b.sigmoid().clamp(max=0.99))  # range: [0, 0.988281]; dtype: bfloat16
    reveal(b.clamp(max=80).exp())  # range: [0, 5.71153e+34]; dtype: bfloat16


def in_float32(x: torch.Tensor) -> None:
    p = x.sigmoid()
    reveal(p + 1e-8)  # range: [1e-08, 1]
    reveal(p + 1e-46)  # range: [0, 1]
    reveal(p.clamp(1e-8, 1 - 1e-8))  # range: [1e-08, 1]
    reveal(1 - p.clamp(1e-8, 1 - 1e-8))  # range: [0, 1]
    reveal(1 - p.clamp(1e-7, 1 - 1e-7))  # range: [1.19209e-07, 1]
    reveal(x.relu() + 1e-12)  # range: [1e-12, inf)
    reveal(x.pow(2).sum() + 1e-12)  # range: [1e-12, inf)
    reveal((x.pow(2).sum() + 1e-12).sqrt())  # range: [1e-06, inf)
    reveal(x + 1e-8)  # range: (-inf, inf)
    reveal(x.abs() + 1e-8)  # range: [1e-08, inf)
    reveal(x.tanh() + 1e-8)  # range: [-1, 1]
    reveal(x.tanh() + 1.5)  # range: [0.5, 2.5]


def in_float64(x: torch.Tensor) -> None:
    d = x.double()
    reveal(d.sigmoid() + 1e-46)  # range: [1e-46, 1]; dtype: float64
    reveal(1 - d.sigmoid().clamp(1e-8, 1 - 1e-8))  # range: [1e-08, 1]; dtype: float64
    reveal(d.clamp(max=100).exp())  # range: [0, 2.68812e+43]; dtype: float64


def at_the_limits(x: torch.Tensor) -> None:
    reveal(torch.finfo(torch.float16).max)  # range: [65504, 65504]
    reveal(torch.finfo(torch.float32).min)  # range: [-3.40282e+38, -3.40282e+38]
    reveal(torch.finfo(torch.float32).eps)  # range: [1.19209e-07, 1.19209e-07]
    reveal(torch.finfo(torch.float32).tiny)  # range: [1.17549e-38, 1.17549e-38]
    reveal(x.sigmoid().masked_fill(x > 0, torch.finfo(torch.float32).min))  # range: [-3.40282e+38, 1]
    reveal(float("inf"))  # range: inf
    reveal(float("-inf"))  # range: -inf
    reveal(float("nan"))  # range: nan
    reveal(x.masked_fill(x > 0, float("-inf")))  # range: [-inf, 0]
    reveal(x.masked_fill(x > 0, float("-inf")).softmax(-1))  # range: [0, 1] or nan
    reveal(x.masked_fill(x > 0, -1e4).softmax(-1))  # range: [0, 1]
    reveal(torch.full_like(x, float("-inf")).exp())  # range: [0, 0]
    reveal(F.softplus(x.half()))  # range: [0, inf); dtype: float16
