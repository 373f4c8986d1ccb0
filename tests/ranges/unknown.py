"""Unknown stays unknown: shadowed names, star imports, dynamic attributes, decorators, recursion. Read, never run."""

import functools

import numpy as np
import torch
import torch as th
import torch.nn.functional as fun
from elsewhere import anything, sigmoid
from torch import exp, softmax as soft
from torch.nn.functional import *


def under_another_name(x: torch.Tensor) -> None:
    reveal(th.sigmoid(x))  # range: [0, 1]
    reveal(fun.softmax(x, -1))  # range: [0, 1]
    reveal(exp(x))  # range: [0, inf]
    reveal(soft(x, -1))  # range: [0, 1]
    reveal(logsigmoid(x))  # range: (-inf, 0]


def not_of_torch(x: torch.Tensor) -> None:
    reveal(sigmoid(x))  # range: (-inf, inf)
    reveal(sigmoid(x))  # kind: unknown
    reveal(anything.softmax(x))  # range: (-inf, inf)
    reveal(np.exp(x))  # range: (-inf, inf)
    reveal(np.exp(x))  # kind: unknown
    reveal(undefined(x))  # range: (-inf, inf)
    reveal(anything)  # kind: reference
    reveal(x.grad)  # kind: tensor


def shadowed(x: torch.Tensor, exp, F) -> None:
    reveal(exp(x))  # range: (-inf, inf)
    reveal(F.softmax(x))  # kind: tensor
    torch = anything
    reveal(torch.sigmoid(x))  # range: (-inf, inf)
    max = anything
    reveal(max(x, 1))  # range: (-inf, inf)
    len = anything
    reveal(len(x))  # range: (-inf, inf)


def float(x):
    return x


def a_builtin_of_its_own(x: torch.Tensor) -> None:
    reveal(float("inf"))  # range: (-inf, inf)


def imported_in_the_function(x: torch.Tensor) -> None:
    from elsewhere import softmax

    reveal(softmax(x))  # range: (-inf, inf)
    import torch

    reveal(torch.sigmoid(x))  # range: [0, 1]


def dynamic(x: torch.Tensor, name: str) -> None:
    reveal(getattr(torch, name)(x))  # range: (-inf, inf)
    reveal(getattr(x, "sigmoid")())  # range: (-inf, inf)
    reveal(globals()["f"](x))  # range: (-inf, inf)
    reveal(eval("x.sigmoid()"))  # range: (-inf, inf)
    table = {"a": torch.sigmoid}
    reveal(table["a"](x))  # range: (-inf, inf)
    reveal(x.no_such_method())  # range: (-inf, inf)
    reveal(x.no_such_attribute)  # range: (-inf, inf)
    reveal((yield x))  # range: (-inf, inf)


class Dynamic:
    def __init__(self) -> None:
        self.known = 1.0
        self.changed = 1.0
        setattr(self, "unseen", 2.0)

    def __getattr__(self, name):
        return anything

    def change(self) -> None:
        self.changed = anything()

    def read(self, other) -> None:
        reveal(self.unseen)  # range: (-inf, inf)
        reveal(self.changed)  # range: (-inf, inf)
        reveal(other.known)  # range: (-inf, inf)
        self.known = anything()
        reveal(self.known)  # range: (-inf, inf)


def wraps(function):
    return lambda *args: function(*args) * 5


@wraps
def decorated(x):
    return x.sigmoid()


@functools.lru_cache
def cached(x):
    return x.sigmoid()


def of_decorated(x: torch.Tensor) -> None:
    reveal(decorated(x))  # range: (-inf, inf)
    reveal(cached(x))  # range: [0, 1]


def twice(x):
    return x.sigmoid()


def twice(x):
    return x * 5


def of_two_definitions(x: torch.Tensor) -> None:
    reveal(twice(x))  # range: (-inf, inf)


def ping(x):
    return pong(x)


def pong(x):
    return ping(x) if x else x.sigmoid()


def recursive(x):
    return recursive(x - 1).clamp(0, 1) if x.sum() > 0 else x


def of_circles(x: torch.Tensor) -> None:
    reveal(ping(x))  # range: (-inf, inf)
    reveal(recursive(x))  # range: (-inf, inf)


def generator(x):
    yield x.sigmoid()
    return x.sigmoid()


async def awaited(x):
    return x.sigmoid()


async def of_generators(x: torch.Tensor) -> None:
    reveal(generator(x))  # range: (-inf, inf)
    reveal(awaited(x))  # range: (-inf, inf)
    reveal(await awaited(x))  # range: [0, 1]


def rebound_in_a_closure(x: torch.Tensor) -> None:
    n = 1

    def change() -> None:
        nonlocal n
        n = anything()

    change()
    reveal(n)  # range: (-inf, inf)


def columns_of_whatever_has_half(boxes) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 - a module has a half, too
    boxes = boxes.half()
    reveal(boxes[:, 2] - boxes[:, 0])  # dtype: float16
    reveal(boxes[..., 2])  # dtype: float16
