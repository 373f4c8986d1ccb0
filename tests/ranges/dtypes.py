"""The dtype in effect: what a cast, an argument or the operands say; unknown where nothing says."""

import torch
import torch.nn.functional as F


def casts(x: torch.Tensor) -> None:
    reveal(x)  # dtype: unknown
    reveal(x.half())  # dtype: float16
    reveal(x.bfloat16())  # dtype: bfloat16
    reveal(x.float())  # dtype: float32
    reveal(x.double())  # dtype: float64
    reveal(x.long())  # dtype: int
    reveal(x.int())  # dtype: int
    reveal(x.bool())  # dtype: bool
    reveal(x.to(torch.float16))  # dtype: float16
    reveal(x.to(dtype=torch.bfloat16))  # dtype: bfloat16
    reveal(x.to("cpu", torch.half))  # dtype: float16
    reveal(x.type(torch.float64))  # dtype: float64
    reveal(x.half().float())  # dtype: float32
    reveal(x.to("cpu"))  # dtype: unknown
    reveal(x.half().to("cpu"))  # dtype: float16
    reveal(x.float().to(x.half()))  # dtype: float16
    reveal(x.to(x.float()))  # dtype: float32
    dtype = torch.float16
    reveal(x.to(dtype))  # dtype: float16
    reveal(x.type_as(x.half()))  # dtype: float16


def arguments(x: torch.Tensor) -> None:
    reveal(x.sum(dtype=torch.float64))  # dtype: float64
    reveal(x.half().sum(dtype=torch.float32))  # dtype: float32
    reveal(F.softmax(x.half(), dim=-1, dtype=torch.float32))  # dtype: float32
    reveal(x.half().softmax(-1))  # dtype: float16
    reveal(torch.zeros(3, dtype=torch.float16))  # dtype: float16
    reveal(torch.zeros_like(x.half()))  # dtype: float16
    reveal(torch.full_like(x, 1.0, dtype=torch.bfloat16))  # dtype: bfloat16
    reveal(torch.tensor(1.0, dtype=torch.float64))  # dtype: float64
    reveal(torch.zeros(3))  # dtype: unknown
    reveal(torch.arange(3, dtype=torch.float32))  # dtype: float32


def carried_on(x: torch.Tensor) -> None:
    h = x.half()
    reveal(h + 1)  # dtype: float16
    reveal(h * 2.5)  # dtype: float16
    reveal(1 / h)  # dtype: float16
    reveal(-h)  # dtype: float16
    reveal(h.exp())  # dtype: float16
    reveal(h[0])  # dtype: float16
    reveal(h.view(-1).t())  # dtype: float16
    reveal(h.sum())  # dtype: float16
    reveal(h.mean(-1))  # dtype: float16
    reveal(h.max(dim=-1).values)  # dtype: float16
    reveal(h.detach().clone())  # dtype: float16
    reveal(h.masked_fill(x > 0, 0.0))  # dtype: float16
    reveal(torch.where(x > 0, h, 0.0))  # dtype: float16
    reveal(h.clamp(min=1e-8))  # dtype: float16
    reveal(h > 0)  # dtype: bool
    reveal(h.argmax(-1))  # dtype: int
    reveal((h > 0).sum())  # dtype: int
    reveal((h > 0).float().mean())  # dtype: float32
    reveal(h.isnan())  # dtype: bool
    reveal((h > 0) & (h < 1))  # dtype: bool
    reveal(~(h > 0))  # dtype: bool


def promoted(x: torch.Tensor) -> None:
    h, b, s, d = x.half(), x.bfloat16(), x.float(), x.double()
    reveal(h + s)  # dtype: float32
    reveal(h + b)  # dtype: float32
    reveal(s * d)  # dtype: float64
    reveal(h + x)  # dtype: unknown
    reveal(h * (x > 0))  # dtype: float16
    reveal(h + x.long())  # dtype: float16
    reveal(s.long() + 1)  # dtype: int
    reveal(s.long() / 2)  # dtype: float32
    reveal(s.long().exp())  # dtype: float32
    reveal(s.long() * 0.5)  # dtype: float32
    reveal((s > 0) * 2)  # dtype: int
    reveal((s > 0) + (s < 0))  # dtype: bool
    reveal(s.long().sqrt())  # dtype: float32
    reveal(s.long() // 2)  # dtype: int
    reveal(s.long() ** 2)  # dtype: int
    reveal(F.mse_loss(s, s))  # dtype: float32


def assigned(x: torch.Tensor) -> None:
    h = x.half()
    h[0] = 1.0
    reveal(h)  # dtype: float16
    h += 1
    reveal(h)  # dtype: float16
    h += x.float()
    reveal(h)  # dtype: float16
    h.mul_(2)
    reveal(h)  # dtype: float16
    h = h.float()
    reveal(h)  # dtype: float32


def paths(x: torch.Tensor, flag: bool) -> None:
    y = x.half() if flag else x.float()
    reveal(y)  # dtype: unknown
    z = x.half() if flag else x.half() + 1
    reveal(z)  # dtype: float16


def drawn(x: torch.Tensor) -> None:
    u = torch.rand(x.shape)
    reveal(u)  # dtype: float32
    reveal(u.to(x.device))  # dtype: float32
    reveal(u.to(x))  # dtype: unknown
    reveal(torch.randn(3, dtype=x.dtype))  # dtype: unknown
    reveal(torch.nn.Parameter(torch.randn(3)))  # dtype: unknown
