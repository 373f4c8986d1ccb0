"""One value in, one value out: each elementwise operation and the stretch of numbers it can return."""

import torch


def of_anything(x: torch.Tensor) -> None:
    reveal(x)  # range: (-inf, inf)
    reveal(-x)  # range: (-inf, inf)
    reveal(+x)  # range: (-inf, inf)
    reveal(abs(x))  # range: [0, inf)
    reveal(x.abs())  # range: [0, inf)
    reveal(x**2)  # range: [0, inf)
    reveal(x**4)  # range: [0, inf)
    reveal(x**3)  # range: (-inf, inf)
    reveal(x.square())  # range: [0, inf)
    reveal(torch.pow(x, 2))  # range: [0, inf)
    reveal(x * x)  # range: [0, inf)
    reveal(x.exp())  # range: [0, inf]
    reveal(x.exp2())  # range: [0, inf]
    reveal(x.expm1())  # range: [-1, inf]
    reveal((-x.abs()).exp())  # range: [0, 1]
    reveal(torch.exp(-(x**2)))  # range: [0, 1]
    reveal(x.sin())  # range: [-1, 1]
    reveal(x.cos())  # range: [-1, 1]
    reveal(x.tanh())  # range: [-1, 1]
    reveal(x.atan())  # range: [-1.5708, 1.5708]
    reveal(x.erf())  # range: [-1, 1]
    reveal(x.erfc())  # range: [0, 2]
    reveal(x.sign())  # range: [-1, 1] of integers
    reveal(x.frac())  # range: [-1, 1]
    reveal(x.round())  # range: (-inf, inf)
    reveal(x.floor())  # range: (-inf, inf)
    reveal(x.asinh())  # range: (-inf, inf)


def of_a_sigmoid(x: torch.Tensor) -> None:
    p = x.sigmoid()
    reveal(p)  # range: [0, 1]
    reveal(-p)  # range: [-1, 0]
    reveal(p + 1)  # range: [1, 2]
    reveal(p - 0.5)  # range: [-0.5, 0.5]
    reveal(2 * p - 1)  # range: [-1, 1]
    reveal(p * 0.5 + 0.25)  # range: [0.25, 0.75]
    reveal(p / 4)  # range: [0, 0.25]
    reveal(p.sqrt())  # range: [0, 1]
    reveal(p**0.5)  # range: [0, 1]
    reveal(p.log())  # range: [-inf, 0]
    reveal((p + 1).log())  # range: [0, 0.693148]
    reveal(p.log1p())  # range: [0, 0.693148]
    reveal(p.logit())  # range: [-inf, inf]
    reveal(1 / (1 + p))  # range: [0.5, 1]
    reveal((1 + p).reciprocal())  # range: [0.5, 1]
    reveal((1 + p).rsqrt())  # range: [0.707106, 1]
    reveal(p.acos())  # range: [0, 1.5708]
    reveal(p.asin())  # range: [0, 1.5708]
    reveal((p + 1).acosh())  # range: [0, 1.31696]
    reveal(p.lerp(p, 0.5))  # range: [0, 1]
    reveal(p.round())  # range: [0, 1]
    reveal(p.ceil())  # range: [0, 1]
    reveal((10 * p).floor())  # range: [0, 10]
    reveal(p.hypot(p))  # range: [0, 1.4143]


def of_the_wrong_sign(x: torch.Tensor) -> None:
    below = x.sigmoid() - 2
    reveal(below)  # range: [-2, -1]
    reveal(below.sqrt())  # range: nan
    reveal(below.log())  # range: nan
    reveal(below**0.5)  # range: nan
    reveal(below.abs().sqrt())  # range: [1, 1.41421]
    reveal(x.tanh().log())  # range: [-inf, 0] or nan
    reveal(x.tanh().sqrt())  # range: [0, 1] or nan


def of_zero(x: torch.Tensor) -> None:
    z = torch.zeros_like(x)
    reveal(z)  # range: [0, 0]
    reveal(z.log())  # range: -inf
    reveal(1 / z)  # range: inf
    reveal(z / z)  # range: nan
    reveal(z.rsqrt())  # range: inf
    reveal(z.exp())  # range: [1, 1]
    reveal(z.cos())  # range: [1, 1]
    reveal(z * z.log())  # range: nan
    reveal(torch.xlogy(z, z))  # range: [0, 0]


def of_two(x: torch.Tensor, y: torch.Tensor) -> None:
    p, q = x.sigmoid(), y.sigmoid()
    reveal(p + q)  # range: [0, 2]
    reveal(p - q)  # range: [-1, 1]
    reveal(p * q)  # range: [0, 1]
    reveal(p * y.tanh())  # range: [-1, 1]
    reveal(torch.maximum(p, q - 1))  # range: [0, 1]
    reveal(torch.minimum(p, q - 1))  # range: [-1, 0]
    reveal(torch.max(p, q))  # range: [0, 1]
    reveal(torch.fmax(p, torch.full_like(p, 0.5)))  # range: [0.5, 1]
    reveal(torch.atan2(p, q))  # range: [-3.14159, 3.14159]
    reveal(torch.logaddexp(p, q))  # range: [0, 1.69315]
    reveal(p.add(q, alpha=2))  # range: [0, 3]
    reveal(p.sub(q, alpha=0.5))  # range: [-0.5, 1]
    reveal(p.div(1 + q))  # range: [0, 1]
    reveal(p.addcmul(p, q, value=2))  # range: [0, 3]


def clamped(x: torch.Tensor) -> None:
    reveal(x.clamp(0, 1))  # range: [0, 1]
    reveal(x.clamp(min=1e-6))  # range: [1e-06, inf)
    reveal(x.clamp(max=5.0))  # range: (-inf, 5]
    reveal(x.clamp_min(1e-12))  # range: [1e-12, inf)
    reveal(x.clamp_max(80))  # range: (-inf, 80]
    reveal(torch.clamp(x, -10.0, 10.0).exp())  # range: [4.53999e-05, 22026.5]
    reveal(torch.clip(x, -1, 1))  # range: [-1, 1]
    reveal(x.clamp(-1, 1).acos())  # range: [0, 3.14159]
    reveal(x.sigmoid().clamp(1e-6, 1 - 1e-6).log())  # range: [-13.8155, -1.01328e-06]
    reveal(torch.nan_to_num(x))  # range: (-inf, inf)
    reveal(torch.nan_to_num(x.exp(), posinf=100.0))  # range: [0, inf)
    reveal(x.relu().clamp(max=6))  # range: [0, 6]
