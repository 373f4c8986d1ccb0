"""What sort of thing an expression is: Python's own numbers raise where tensors turn NaN."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import Adam


def tensors(x: torch.Tensor, y: "torch.Tensor", z: torch.FloatTensor | None, k: object) -> None:
    reveal(x)  # kind: tensor
    reveal(y)  # kind: tensor
    reveal(z)  # kind: tensor
    reveal(k)  # kind: unknown
    reveal(x + 1)  # kind: tensor
    reveal(1 / x)  # kind: tensor
    reveal(x.sum())  # kind: tensor
    reveal(x > 0)  # kind: tensor
    reveal(x[0])  # kind: tensor
    reveal(x.t())  # kind: tensor
    reveal(-x)  # kind: tensor
    reveal(abs(x))  # kind: tensor
    reveal(x @ y)  # kind: tensor
    reveal(~(x > 0))  # kind: tensor
    reveal(torch.zeros(3))  # kind: tensor
    reveal(F.relu(x))  # kind: tensor
    reveal(nn.Linear(4, 4)(x))  # kind: tensor
    reveal(nn.Parameter(x.detach()))  # kind: tensor
    reveal(x.max(dim=0).values)  # kind: tensor
    reveal(torch.max(x, y))  # kind: tensor
    reveal(x.shape)  # kind: tuple
    reveal(x.max(dim=0))  # kind: tuple


def numbers(n: int, f: float, x: torch.Tensor, flag: bool) -> None:
    reveal(n)  # kind: number
    reveal(f)  # kind: number
    reveal(1.5)  # kind: number
    reveal(n / 2)  # kind: number
    reveal(n + f)  # kind: number
    reveal(-n)  # kind: number
    reveal(len(x))  # kind: number
    reveal(x.size(0))  # kind: number
    reveal(x.shape[0])  # kind: number
    reveal(x.numel() / 2)  # kind: number
    reveal(x.sum().item())  # kind: number
    reveal(float(x.sum()))  # kind: number
    reveal(int(x.sum()))  # kind: number
    reveal(max(n, 1))  # kind: number
    reveal(math.pi)  # kind: number
    reveal(float("inf"))  # kind: number
    reveal(torch.finfo(torch.float16).max)  # kind: number
    reveal(x.dim())  # kind: number
    reveal(not n)  # kind: number
    reveal(n * x.sum())  # kind: tensor
    reveal(n if flag else x)  # kind: unknown
    reveal(n if flag else 1)  # kind: number
    rows, columns = x.shape
    reveal(columns)  # kind: number
    height, width = x.size()
    reveal(width)  # kind: number
    reveal(x.size()[-1] - 1)  # kind: number


def other_things(x: torch.Tensor) -> None:
    reveal("text")  # kind: text
    reveal(None)  # kind: none
    reveal((1, 2))  # kind: tuple
    reveal([x, x])  # kind: tuple
    reveal(torch.float16)  # kind: dtype
    reveal(nn.ReLU())  # kind: module
    reveal(nn.Sequential(nn.ReLU()))  # kind: module
    reveal(lambda y: y)  # kind: function
    reveal(tensors)  # kind: function
    reveal(Thing)  # kind: class
    reveal(Thing())  # kind: instance
    reveal(torch.exp)  # kind: reference
    reveal(math)  # kind: reference
    reveal(Adam)  # kind: reference
    reveal({"a": 1})  # kind: unknown
    reveal(x.tolist())  # kind: unknown
    reveal([row for row in x])  # kind: unknown


class Thing(nn.Module):
    def forward(self, x, mask=None, scale: float = 1.0):
        reveal(x)  # kind: tensor
        reveal(mask)  # kind: unknown
        reveal(scale)  # kind: number
        reveal(self)  # kind: instance
        return x


def things(x: torch.Tensor) -> None:
    Thing()(x)


def mixed_paths(x: torch.Tensor, flag: bool) -> None:
    total = 0
    if flag:
        total = x.sum()
    reveal(total)  # kind: unknown
    both = x if flag else x + 1
    reveal(both)  # kind: tensor
    loss = 0
    for row in x:
        loss = loss + row.sum()
    reveal(loss)  # kind: unknown


def of_data_or_memory(x: torch.Tensor) -> None:
    reveal(torch.FloatTensor(x.tolist()))  # range: (-inf, inf)
    reveal(torch.Tensor(x.abs()))  # range: [0, inf)
    reveal(torch.FloatTensor([0.5, 2.5]))  # range: [0.5, 2.5]
    reveal(torch.FloatTensor(len(x)))  # range: [-inf, inf] or nan
    reveal(torch.FloatTensor(4, 3))  # range: [-inf, inf] or nan
    reveal(torch.FloatTensor(x.shape))  # range: [-inf, inf] or nan


def sizes_as_a_tensor(x: torch.Tensor) -> None:
    reveal(torch.tensor(x.shape))  # range: [1, inf) of integers
