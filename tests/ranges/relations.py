"""What no interval of each operand alone can tell: a value beside its own maximum, minimum, sum, norm or bound."""

import torch


def beside_its_extremes(x: torch.Tensor, y: torch.Tensor) -> None:
    reveal(x - x.max())  # range: (-inf, 0]
    reveal(x - torch.max(x))  # range: (-inf, 0]
    reveal(x - x.amax(dim=-1, keepdim=True))  # range: (-inf, 0]
    reveal(x - x.max(dim=-1, keepdim=True).values)  # range: (-inf, 0]
    reveal(x - x.max(dim=-1, keepdim=True)[0])  # range: (-inf, 0]
    reveal(x - torch.max(x, dim=-1, keepdim=True)[0])  # range: (-inf, 0]
    reveal(x - x.max().detach())  # range: (-inf, 0]
    reveal(torch.sub(x, x.max()))  # range: (-inf, 0]
    reveal(x - x.logsumexp(-1, keepdim=True))  # range: (-inf, 0]
    reveal(x - x.min())  # range: [0, inf)
    reveal(x - x.amin(dim=0))  # range: [0, inf)
    reveal(x.max() - x)  # range: [0, inf)
    reveal(x.max() - x.min())  # range: [0, inf)
    reveal((x.view(-1, 1) == x.view(1, -1)).float() - torch.eye(x.numel()))  # range: [0, 1] of integers
    reveal((x.view(-1, 1) != x.view(1, -1)).float() - torch.eye(x.numel()))  # range: [-1, 1] of integers
    reveal(x.amax(-1) - x.amin(-1))  # range: [0, inf)
    reveal(x.logsumexp(-1, keepdim=True) - x)  # range: [0, inf)
    reveal(x - y.max())  # range: (-inf, inf)
    reveal(x.min() - x.max())  # range: (-inf, 0]
    reveal(x.min() - x)  # range: (-inf, 0]
    reveal((x - x.max()).exp())  # range: [0, 1]
    reveal((x - x.max()).exp().sum())  # range: [1, inf)
    reveal((x - x.max()).exp().sum(-1).log())  # range: [-inf, inf)
    reveal((x - x.amax(-1, keepdim=True)).exp().sum(-1).log())  # range: [0, inf)


def by_name(x: torch.Tensor, y: torch.Tensor) -> None:
    top, _ = x.max(dim=-1, keepdim=True)
    shifted = x - top
    reveal(shifted)  # range: (-inf, 0]
    grown = shifted.exp()
    reveal(grown)  # range: [0, 1]
    reveal(grown / grown.sum(-1, keepdim=True))  # range: [0, 1]
    peak = x.max()
    x = y
    reveal(x - peak)  # range: (-inf, inf)


def changed_in_between(x: torch.Tensor) -> None:
    peak = x.max()
    x = x + 1
    reveal(x - peak)  # range: (-inf, inf)
    low = x.min()
    x += 1
    reveal(x - low)  # range: (-inf, inf)
    x = x.clone()
    high = x.max()
    x.mul_(2)
    reveal(x - high)  # range: (-inf, inf)


def of_infinite_values(x: torch.Tensor) -> None:
    masked = x.masked_fill(x > 0, float("-inf"))
    reveal(masked - masked.amax(-1, keepdim=True))  # range: [-inf, 0] or nan
    grown = x.exp()
    reveal(grown - grown.max())  # range: [-inf, 0] or nan
    reveal(grown / grown.sum())  # range: [0, 1] or nan
    reveal(grown / (grown + 1))  # range: [0, 1] or nan
    reveal(1 / (grown + 1))  # range: [0, 1]
    reveal(grown * grown)  # range: [0, inf]


def rest_to_one(x: torch.Tensor) -> None:
    p = x.sigmoid()
    reveal(1 - p)  # range: [0, 1]
    reveal(1.0 - x.softmax(-1))  # range: [0, 1]
    reveal(p * (1 - p))  # range: [0, 1]
    reveal(torch.ones_like(p) - p)  # range: [0, 1]
    reveal(1 - p**2)  # range: [0, 1]
    reveal(1 + p)  # range: [1, 2]
    reveal(1 - 2 * p)  # range: [-1, 1]


def shares(x: torch.Tensor, y: torch.Tensor) -> None:
    a, b = x.relu(), y.relu()
    reveal(a / (a + b))  # range: [0, 1] or nan
    reveal(a / (b + a))  # range: [0, 1] or nan
    reveal(a / (a + 1))  # range: [0, 1]
    reveal(a / (1 + a))  # range: [0, 1]
    reveal(a / a.sum())  # range: [0, 1] or nan
    reveal(a / a.sum(-1, keepdim=True))  # range: [0, 1] or nan
    reveal(x / x.norm())  # range: [-1, 1] or nan
    reveal(x / x.sum())  # range: [-inf, inf] or nan
    reveal(a / b.sum())  # range: [0, inf] or nan
    reveal(a / (a.sum() + 1e-8))  # range: [0, 1]
    reveal(a / a.sum(-1, keepdim=True).clamp(min=1e-8))  # range: [0, 1]
    reveal(a / a.max())  # range: [0, 1] or nan
    reveal(x / (x.norm(dim=-1, keepdim=True) + 1e-8))  # range: [-1, 1]
    reveal(x / x.norm().clamp_min(1e-12))  # range: [-1, 1]
    reveal(x / x.abs().max())  # range: [-1, 1] or nan
    reveal(x / x.norm(p=0))  # range: [-inf, inf] or nan
    reveal(torch.sub(x, x.max(), alpha=2))  # range: (-inf, inf)
    total = a.sum() + 1
    reveal(a.sum() / total)  # range: [0, 1]


def squares(x: torch.Tensor, y: torch.Tensor) -> None:
    reveal(x * x)  # range: [0, inf)
    reveal((x - y) * (x - y))  # range: [0, inf)
    reveal(x.tanh() * x.tanh())  # range: [0, 1]
    reveal(x * y)  # range: (-inf, inf)
    z = x
    reveal(x * z)  # range: [0, inf)
    reveal(x.t() * x)  # range: (-inf, inf)
    reveal(x.unsqueeze(0) * x.unsqueeze(1))  # range: (-inf, inf)
    reveal(x.view(1, -1) * x.view(-1, 1))  # range: (-inf, inf)
    reveal(x.double() * x)  # range: [0, inf)
    reveal(x.detach() * x)  # range: [0, inf)
    reveal(x.t() * x.t())  # range: [0, inf)
    reveal(torch.dropout(x, 0.5, True) * torch.dropout(x, 0.5, True))  # range: (-inf, inf)
    reveal(torch.where(x.t() > 0, x, 1.0))  # range: (-inf, inf)
    reveal(torch.randn(3) * torch.randn(3))  # range: (-inf, inf)
    reveal(torch.randn_like(x) * torch.randn_like(x))  # range: (-inf, inf)


def made_safe(x: torch.Tensor, y: torch.Tensor, n: int, mask: torch.Tensor) -> None:
    reveal(x.clamp(min=1e-8))  # range: [1e-08, inf)
    reveal(torch.clamp_min(x, 1e-8))  # range: [1e-08, inf)
    reveal(x.abs() + 1e-8)  # range: [1e-08, inf)
    reveal(torch.maximum(x, torch.tensor(1e-6)))  # range: [1e-06, inf)
    reveal(torch.maximum(x, torch.ones_like(x)))  # range: [1, inf)
    reveal(max(n, 1))  # range: [1, inf)
    reveal(max(1, n))  # range: [1, inf)
    reveal(max(mask.sum(), 1))  # range: [1, inf)
    reveal(max(mask.sum().item(), 1))  # range: [1, inf)
    reveal(max(len(x), 1))  # range: [1, inf) of integers
    reveal(min(n, 5))  # range: (-inf, 5]
    reveal(max(n, 0))  # range: [0, inf)
    reveal(max(n, y.numel(), 1))  # range: [1, inf)
    reveal((x > 0).sum().clamp(min=1))  # range: [1, inf) of integers
    reveal(torch.nan_to_num(x / y.abs(), nan=0.0))  # range: (-inf, inf)
    reveal(torch.nan_to_num(y.log()))  # range: (-inf, inf)


def masked(x: torch.Tensor, y: torch.Tensor) -> None:
    reveal(y.masked_fill(y == 0, 1))  # range: (-inf, inf) except 0
    reveal(y.abs().masked_fill(y == 0, 1))  # range: [0, inf)
    d = y.abs()
    reveal(d.masked_fill(d == 0, 1))  # range: (0, inf)
    reveal(d.masked_fill(d < 1e-6, 1.0))  # range: [1e-06, inf)
    reveal(d.masked_fill(d != 0, 1))  # range: [0, 1] of integers
    reveal(torch.where(d > 0, d, torch.ones_like(d)))  # range: (0, inf)
    reveal(torch.where(d == 0, torch.ones_like(d), d))  # range: (0, inf)
    reveal(torch.where(d > 1e-3, d, 1.0))  # range: [0.001, inf)
    reveal(torch.where(x > 0, d, 1.0))  # range: [0, inf)
    reveal(torch.where(x > 0, x, 0.0))  # range: [0, inf)
    reveal(torch.where(x > 0, x, -x))  # range: (-inf, inf)
    empty = d == 0
    reveal(d.masked_fill(empty, 1))  # range: (0, inf)
    reveal(torch.where(~empty, d, 1))  # range: (0, inf)
    reveal(torch.where((d > 0) & (x > 0), d, 1.0))  # range: (0, inf)
    reveal(torch.where((d > 0) | (x > 0), d, 1.0))  # range: [0, inf)


def elements_assigned(x: torch.Tensor) -> None:
    d = x.abs()
    d[d == 0] = 1
    reveal(d)  # range: (0, inf)
    e = x.relu()
    e[e < 1e-6] = 1e-6
    reveal(e)  # range: [1e-06, inf)
    g = x.sigmoid()
    g[0] = 5
    reveal(g)  # range: [0, 5]
    h = x.sigmoid()
    h[:, 0] = -1.0
    reveal(h)  # range: [-1, 1]
    k = x.sigmoid()
    k[x > 0] = float("-inf")
    reveal(k)  # range: [0, 1] or -inf
    half = x.sigmoid().half()
    half[half < 1e-8] = 1e-8
    reveal(half)  # range: [0, 1]; dtype: float16
    half[half < 1e-4] = 1e-4
    reveal(half)  # range: [0.000100017, 1]; dtype: float16
    m = x.relu()
    m[m == 0] += 1
    reveal(m)  # range: (0, inf)


def in_order(x: torch.Tensor, y: torch.Tensor) -> None:
    scale = y.exp()
    reveal(torch.sigmoid(x + 1 / 256) - torch.sigmoid(x))  # range: [0, 1]
    reveal(torch.sigmoid(x + 1 / 256 / scale) - torch.sigmoid(x) + 1e-7)  # range: [1e-07, 1]
    reveal(torch.sigmoid(x) - torch.sigmoid(x + 1))  # range: [-1, 0]
    reveal(torch.tanh(scale * (x + 1)) - torch.tanh(scale * (x - 1)))  # range: [0, 2] or nan
    reveal((x / scale).exp() - ((x - 1) / scale).exp())  # range: [0, inf] or nan
    reveal(torch.sigmoid(1 - x) - torch.sigmoid(-x + 1))  # range: [-1, 1]
    reveal(torch.sigmoid(2 - x) - torch.sigmoid(2 - (x + 1)))  # range: [0, 1]
    reveal(torch.sigmoid(y * (x + 1)) - torch.sigmoid(y * x))  # range: [-1, 1]
    reveal(torch.sigmoid(x + y) - torch.sigmoid(x))  # range: [-1, 1]
    reveal(torch.cos(x + 1) - torch.cos(x))  # range: [-2, 2]


def picked(x: torch.Tensor, labels: torch.Tensor) -> None:
    hot = torch.nn.functional.one_hot(labels.clamp(0, 6), 7)
    shares = x.new_ones(labels.numel(), 7).cumsum(-1).softmax(-1).clamp_min(1e-6)
    reveal((hot * shares).sum(-1))  # range: [1e-06, 1]
    reveal((shares * hot.float()).sum(dim=-1))  # range: [1e-06, 1]
    reveal((hot * shares).sum(0))  # range: [0, inf)
    pairs = torch.exp(torch.mm(shares, shares.t()))
    reveal(pairs.diag())  # range: [1, inf]
    reveal(pairs[:, 0:2].diag())  # range: [1, inf]
    reveal(shares[0].exp().diag())  # range: [0, 2.71828]


def rows_with_ones(x: torch.Tensor) -> None:
    ones = torch.ones_like(x[..., :1])
    reveal(torch.cat([x, ones], -1).norm(dim=-1))  # range: [1, inf)
    reveal(torch.stack([x, -torch.ones_like(x)], -1).norm(dim=-1))  # range: [1, inf)
    reveal(torch.norm(torch.stack((x, 2 * torch.ones_like(x)), dim=0), dim=0))  # range: [2, inf)
    reveal(torch.stack([x, torch.ones_like(x)], 0).norm(dim=1))  # range: [0, inf)
    reveal(torch.cat([x, ones], -1).norm(dim=0))  # range: [0, inf)


def selected(x: torch.Tensor) -> None:
    reveal(x[x > 0])  # range: (0, inf)
    reveal(x[x >= 1])  # range: [1, inf)
    reveal(x[x != 0])  # range: (-inf, inf) except 0
    reveal(x[(x > 0) & (x < 5)])  # range: (0, 5]
    reveal(x[~(x <= 0)])  # range: (0, inf)
    kept = x > 0
    reveal(x[kept])  # range: (0, inf)
    reveal(x[kept].log())  # range: [-103.279, inf)
    reveal(x.abs()[kept])  # range: [0, inf)
