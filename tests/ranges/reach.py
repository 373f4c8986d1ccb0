"""What is known beyond one function: constants, defaults, attributes, base classes, helpers, modules."""

import math

import torch
import torch.nn.functional as F
from torch import nn

EPS = 1e-6
HALF_EPS = EPS / 2
LIMIT, FLOOR = 80.0, -80.0
COUNTER = 0
LOG_TWO_PI = math.log(2 * math.pi)


def count() -> None:
    global COUNTER
    COUNTER = COUNTER + 1


def module_constants(x: torch.Tensor) -> None:
    reveal(EPS)  # range: [1e-06, 1e-06]
    reveal(HALF_EPS)  # range: [5e-07, 5e-07]
    reveal(LIMIT)  # range: [80, 80]
    reveal(x.clamp(FLOOR, LIMIT))  # range: [-80, 80]
    reveal(x.relu() + EPS)  # range: [1e-06, inf)
    reveal(COUNTER)  # range: (-inf, inf)
    reveal(math.pi)  # range: [3.14159, 3.14159]
    reveal(math.inf)  # range: inf
    reveal(torch.pi)  # range: [3.14159, 3.14159]


def hidden_by_a_name(x: torch.Tensor) -> None:
    EPS = x.sigmoid()
    reveal(EPS)  # range: [0, 1]


def default_arguments(x: torch.Tensor, eps: float = 1e-8, scale=2.0, *, low=None, limit: float = LIMIT) -> None:
    reveal(eps)  # range: [1e-08, 1e-08]
    reveal(x.relu() + eps)  # range: [1e-08, inf)
    reveal(x.half().relu() + eps)  # range: [0, inf)
    reveal(x.sigmoid() * scale)  # range: [0, 2]
    reveal(x.clamp(max=limit))  # range: (-inf, 80]
    reveal(low)  # range: (-inf, inf)


def squashed(x):
    return torch.sigmoid(x)


def squashed_twice(x):
    return squashed(x) * 2


def one_of_two(x, flag):
    if flag:
        return x.sigmoid()
    return x.tanh()


def pair(x):
    return x.sigmoid(), x.relu()


def never_ending(x, n):
    return never_ending(x, n - 1) if n else x.sigmoid()


def with_a_floor(x, eps=1e-6):
    return x.clamp_min(eps)


def scaled(x, by=1.0):
    return x.sigmoid() * by


def normalised(x):
    total = x.abs().sum()
    if total == 0:
        return x
    return x.abs() / total


def without_result(x):
    x.sigmoid()


def helpers(x: torch.Tensor, flag: bool) -> None:
    reveal(squashed(x))  # range: [0, 1]
    reveal(squashed_twice(x))  # range: [0, 2]
    reveal(one_of_two(x, flag))  # range: [-1, 1]
    reveal(pair(x)[0])  # range: [0, 1]
    p, r = pair(x)
    reveal(r)  # range: [0, inf)
    reveal(never_ending(x, 3))  # range: (-inf, inf)
    reveal(with_a_floor(x))  # range: [1e-06, inf)
    reveal(with_a_floor(x, 0.0))  # range: (-inf, inf)
    reveal(with_a_floor(x, eps=-1.0))  # range: (-inf, inf)
    reveal(scaled(x))  # range: [0, 1]
    reveal(scaled(x, by=30.0))  # range: (-inf, inf)
    reveal(normalised(x))  # range: (-inf, inf)
    reveal(without_result(x))  # range: (-inf, inf)
    again = squashed
    reveal(again(x))  # range: [0, 1]


class Head(nn.Module):
    limit = 4.0

    def __init__(self, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.tiny = 1e-12
        self.scale = 0.5
        self.rate = 1.0
        self.softmax = nn.Softmax(dim=-1)
        self.gate = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())
        self.layers = nn.ModuleList([nn.Linear(4, 4)])
        self.act = nn.ReLU()
        self.weight = nn.Parameter(torch.ones(4))
        self.register_buffer("ones", torch.ones(4))

    def set_rate(self, rate) -> None:
        self.rate = rate

    @property
    def width(self):
        return self.scale * 2

    def squash(self, x):
        return x.sigmoid() * self.scale

    def forward(self, x):
        reveal(self.tiny)  # range: [1e-12, 1e-12]
        reveal(self.eps)  # range: [1e-05, 1e-05]
        reveal(self.limit)  # range: [4, 4]
        reveal(self.rate)  # range: (-inf, inf)
        reveal(self.width)  # range: [1, 1]
        reveal(self.softmax(x))  # range: [0, 1]
        reveal(self.gate(x))  # range: [0, 1]
        reveal(self.act(x) + self.tiny)  # range: [1e-12, inf)
        reveal(self.squash(x))  # range: [0, 0.5]
        reveal(self.weight)  # range: (-inf, inf)
        reveal(self.ones)  # range: (-inf, inf)
        reveal(self.layers[0](x))  # range: (-inf, inf)
        reveal(x.clamp(-self.limit, self.limit))  # range: [-4, 4]
        return self.gate(x)


class Deeper(Head):
    def __init__(self) -> None:
        super().__init__()
        self.depth = 3

    def forward(self, x):
        reveal(self.depth)  # range: [3, 3]
        reveal(self.tiny)  # range: [1e-12, 1e-12]
        reveal(self.limit)  # range: [4, 4]
        reveal(self.squash(x))  # range: [0, 0.5]
        reveal(super().forward(x))  # range: [0, 1]
        return self.softmax(x)


class Base:
    def __init__(self) -> None:
        self.floor = 1.0

    def read(self) -> None:
        reveal(self.floor)  # range: [0, 1] of integers


class Lower(Base):
    def __init__(self) -> None:
        super().__init__()
        self.floor = 0.0


def bases() -> None:
    Base().read()
    Lower().read()


class Counter:
    def __init__(self) -> None:
        self.n = 0
        self.total = 1.0

    def update(self, k) -> None:
        self.n += k

    def mean(self, k: int) -> None:
        if self.n > 0:
            reveal(self.n)  # range: (0, inf)
            self.update(k)
            reveal(self.n)  # range: (-inf, inf)
        self.total = 3.0
        reveal(self.total)  # range: [3, 3]


def counters() -> None:
    counter = Counter()
    counter.mean(1)
    counter.update(2)
    counter.mean(-3)


def objects(x: torch.Tensor) -> None:
    head, deeper = Head(), Deeper()
    reveal(head(x))  # range: [0, 1]
    reveal(deeper(x))  # range: [0, 1]
    reveal(head.squash(x))  # range: [0, 0.5]
    reveal(head.tiny)  # range: [1e-12, 1e-12]
    reveal(head.eps)  # range: [1e-05, 1e-05]
    reveal(Head(eps=0.0).eps)  # range: (-inf, inf)
    head.tiny = 0.0
    reveal(head.tiny)  # range: [0, 0]
    setattr(head, "scale", 3.0)
    reveal(head.scale)  # range: [3, 3]
    soft = nn.Softmax(dim=-1)
    reveal(soft(x))  # range: [0, 1]
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.Tanh())
    reveal(net(x))  # range: [-1, 1]
    reveal(nn.Sequential(nn.Sigmoid(), nn.Linear(4, 4))(x))  # range: (-inf, inf)
    reveal(nn.Sequential(nn.Sigmoid(), nn.Identity())(x))  # range: (-inf, inf)
    layers = [nn.Linear(4, 4), nn.Sigmoid()]
    reveal(nn.Sequential(*layers)(x))  # range: [0, 1]
    layers.append(nn.Linear(4, 4))
    reveal(nn.Sequential(*layers)(x))  # range: (-inf, inf)


def functions_by_other_names(x: torch.Tensor) -> None:
    squash = torch.sigmoid
    reveal(squash(x))  # range: [0, 1]
    act = F.relu
    reveal(act(x))  # range: [0, inf)
    chosen = torch.sigmoid if x.dim() else torch.tanh
    reveal(chosen(x))  # range: [-1, 1]
