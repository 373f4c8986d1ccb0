"""Many values in, one out: what is known of the elements is known of their extremes, sums and means."""

import torch


def of_anything(x: torch.Tensor) -> None:
    reveal(x.sum())  # range: (-inf, inf)
    reveal(x.mean())  # range: (-inf, inf)
    reveal(x.max())  # range: (-inf, inf)
    reveal(x.norm())  # range: [0, inf)
    reveal(x.norm(dim=-1, keepdim=True))  # range: [0, inf)
    reveal(x.norm(p=1))  # range: [0, inf)
    reveal(torch.linalg.norm(x, dim=-1))  # range: [0, inf)
    reveal(torch.linalg.vector_norm(x))  # range: [0, inf)
    reveal(x.var())  # range: [0, inf)
    reveal(x.std(dim=0))  # range: [0, inf)
    reveal(x.var(unbiased=False))  # range: [0, inf)
    reveal(x.pow(2).sum(-1))  # range: [0, inf)
    reveal((x**2).mean())  # range: [0, inf)
    reveal((x * x).sum().sqrt())  # range: [0, inf)
    reveal(x.abs().max())  # range: [0, inf)
    reveal(x.abs().amax(dim=1, keepdim=True))  # range: [0, inf)
    reveal(x.argmax(-1))  # range: [0, inf) of integers
    reveal(x.logsumexp(-1))  # range: (-inf, inf)
    reveal(torch.cdist(x, x))  # range: [0, inf)
    reveal(torch.dist(x, x.t()))  # range: [0, inf)
    reveal((x > 0).any())  # range: [0, 1] of integers
    reveal(torch.linalg.svdvals(x))  # range: [0, inf)


def of_shares(x: torch.Tensor) -> None:
    p = x.softmax(dim=-1)
    reveal(p.sum(-1))  # range: [0, inf)
    reveal(p.mean())  # range: [0, 1]
    reveal(p.max())  # range: [0, 1]
    reveal(p.max(dim=-1).values)  # range: [0, 1]
    reveal(p.max(dim=-1)[0])  # range: [0, 1]
    reveal(p.max(dim=-1)[1])  # range: [0, inf) of integers
    reveal(p.max(dim=-1).indices)  # range: [0, inf) of integers
    reveal(p.amin(-1))  # range: [0, 1]
    reveal(p.median())  # range: [0, 1]
    reveal(p.prod())  # range: [0, 1]
    reveal(p.cumsum(-1))  # range: [0, inf)
    reveal(p.cumprod(-1))  # range: [0, 1]
    reveal(p.sort(-1).values)  # range: [0, 1]
    reveal(p.topk(2).values)  # range: [0, 1]
    reveal(p.topk(2)[0].sum(-1))  # range: [0, inf)
    reveal(p.kthvalue(1)[0])  # range: [0, 1]
    reveal(p.quantile(0.5))  # range: [0, 1]
    reveal((p + 1).sum())  # range: [1, inf)
    reveal((p + 1).mean())  # range: [1, 2]
    reveal((p + 1).norm())  # range: [1, inf)
    reveal((p + 1).logsumexp(-1))  # range: [1, inf)


def of_masks(x: torch.Tensor, mask: torch.Tensor) -> None:
    reveal((x > 0).sum())  # range: [0, inf) of integers
    reveal((x > 0).float().sum())  # range: [0, inf) of integers
    reveal((x > 0).float().mean())  # range: [0, 1]
    reveal((x > 0).long().sum(-1))  # range: [0, inf) of integers
    reveal((x != 0).sum().item())  # range: [0, inf) of integers
    reveal(mask.bool().sum())  # range: [0, inf) of integers
    reveal(torch.count_nonzero(x))  # range: [0, inf) of integers
    reveal(~(x > 0))  # range: [0, 1] of integers
    reveal(~(x > 0).long())  # range: [-2, -1] of integers
    reveal((x > 0) ^ (x < 1))  # range: [0, 1] of integers
    reveal(1 - (x > 0).float())  # range: [0, 1] of integers
    reveal((~(x > 0)).sum())  # range: [0, inf) of integers
    reveal(((x > 0) & (x < 1)).sum())  # range: [0, inf) of integers
    reveal((x > 0).sum() + 1)  # range: [1, inf) of integers
    reveal(torch.isnan(x).sum())  # range: [0, inf) of integers


def of_lengths(x: torch.Tensor) -> None:
    reveal(len(x))  # range: [0, inf) of integers
    reveal(x.numel())  # range: [0, inf) of integers
    reveal(x.size(0))  # range: [0, inf) of integers
    reveal(x.shape[0])  # range: [0, inf) of integers
    reveal(x.shape[-1] - 1)  # range: [-1, inf) of integers
    reveal(x.dim())  # range: [0, inf) of integers
    rows, columns = x.shape
    reveal(rows)  # range: [0, inf) of integers
    reveal(rows * columns)  # range: [0, inf) of integers
    reveal(columns + 1)  # range: [1, inf) of integers


def moved_and_joined(x: torch.Tensor) -> None:
    p, q = x.sigmoid(), x.tanh()
    reveal(p.view(-1))  # range: [0, 1]
    reveal(p.reshape(2, -1).transpose(0, 1))  # range: [0, 1]
    reveal(p.unsqueeze(0).expand(2, -1, -1))  # range: [0, 1]
    reveal(p[:, 0])  # range: [0, 1]
    reveal(p[..., None])  # range: [0, 1]
    reveal(p.T)  # range: [0, 1]
    reveal(p.flip(0))  # range: [0, 1]
    reveal(p.roll(1))  # range: [0, 1]
    reveal(p.diagonal())  # range: [0, 1]
    reveal(p.tril())  # range: [0, 1]
    reveal((p + 1).triu())  # range: [0, 2]
    reveal(p.gather(1, x.argmax(-1, keepdim=True)))  # range: [0, 1]
    reveal(torch.cat([p, q]))  # range: [-1, 1]
    reveal(torch.stack([p, p + 1]))  # range: [0, 2]
    reveal(torch.where(x > 0, p, q))  # range: [-1, 1]
    reveal(p.masked_fill(x > 0, -5.0))  # range: [-5, 1]
    reveal(p.masked_fill(x > 0, float("-inf")))  # range: [0, 1] or -inf
    reveal(p.repeat(2, 1))  # range: [0, 1]
    reveal(p.diff())  # range: [-1, 1]
    reveal(p @ p)  # range: [0, inf)
    reveal(p.item() if p.numel() == 1 else 0.5)  # range: [0, 1]


def made() -> None:
    reveal(torch.zeros(3))  # range: [0, 0]
    reveal(torch.ones(3))  # range: [1, 1]
    reveal(torch.full((3,), 2.5))  # range: [2.5, 2.5]
    reveal(torch.rand(3))  # range: [0, 1]
    reveal(torch.randn(3))  # range: (-inf, inf)
    reveal(torch.eye(3))  # range: [0, 1] of integers
    reveal(torch.arange(10))  # range: [0, 9] of integers
    reveal(torch.linspace(-1, 1, 5))  # range: [-1, 1]
    reveal(torch.tensor(1.5))  # range: [1.5, 1.5]
    reveal(torch.randint(2, 5, (3,)))  # range: [2, 4] of integers
    reveal(torch.bernoulli(torch.rand(3)))  # range: [0, 1] of integers
    reveal(torch.tensor(0.0).log())  # range: -inf


def how_often_each_is_there(x: torch.Tensor) -> None:
    values, counts = torch.unique(x.sigmoid(), return_counts=True)
    reveal(values)  # range: [0, 1]
    reveal(counts)  # range: [1, inf) of integers; dtype: int; gradient: no
    values, places, counts = x.unique(return_inverse=True, return_counts=True)
    reveal(places)  # range: [0, inf) of integers
    reveal(counts)  # range: [1, inf) of integers
    reveal(torch.unique(x, return_counts=True)[1])  # range: [1, inf) of integers
    reveal(torch.unique_consecutive(x, return_counts=True)[-1])  # range: [1, inf) of integers


def beside_the_first(x: torch.Tensor) -> None:
    sign, size = torch.slogdet(x @ x.T)
    reveal(sign)  # range: [-1, 1] of integers
    reveal(size)  # range: (-inf, inf)
    left, values, right = torch.linalg.svd(x)
    reveal(values)  # range: [0, inf)
    reveal(right)  # range: [-1, 1]
