"""A loop is any number of rounds: what it assigns is unknown at its top, and what it leaves alone is kept."""

import torch


def accumulators(x: torch.Tensor) -> None:
    total = 0.0
    for row in x:
        reveal(total)  # range: [0, inf)
        total = total + row.abs().sum()
    reveal(total)  # range: [0, inf)
    count = 0
    for row in x:
        count += 1
        reveal(count)  # range: [1, inf) of integers
    reveal(count)  # range: [0, inf) of integers
    share = 1
    for row in x:
        share = share + 0.5
    reveal(share)  # range: [0.5, inf)
    left = 5
    for row in x:
        left -= 1
        reveal(left)  # range: (-inf, inf)
    found = 0
    for row in x:
        if row.sum() < 0:
            found = -1
            continue
        found = found + 1
    reveal(found)  # range: (-inf, inf)
    positives = torch.zeros(())
    for row in x:
        if row.sum() == 0:
            continue
        positives = positives + (row > 0).sum()
    reveal(positives)  # range: [0, inf) of integers
    scale = 2.0
    while scale > 0.1:
        scale *= 0.5
        reveal(scale)  # range: [0.05, inf)
    grown = torch.ones(4, 4)
    for row in x:
        grown = grown * row.exp()
    reveal(grown)  # range: [-inf, inf] or nan
    loss = torch.zeros(())
    for row in x:
        loss = loss + row.sum()
    reveal(loss)  # range: (-inf, inf)


def untouched(x: torch.Tensor) -> None:
    p = x.sigmoid()
    for _ in range(3):
        reveal(p)  # range: [0, 1]
    reveal(p)  # range: [0, 1]
    while x.sum() > 5:
        reveal(p)  # range: [0, 1]
        x = x / 2


def set_anew_each_round(x: torch.Tensor) -> None:
    for _ in range(2):
        p = x.sigmoid()
        reveal(p)  # range: [0, 1]
    reveal(p)  # range: [0, 1]
    q = x.tanh()
    for _ in range(2):
        reveal(q)  # range: (-inf, inf)
        q = x.sigmoid()
    reveal(q)  # range: [-1, 1]


def nested(x: torch.Tensor) -> None:
    best = 1.0
    for row in x:
        for value in row:
            best = max(best, value.item())
            reveal(best)  # range: (-inf, inf)
    reveal(best)  # range: (-inf, inf)


def with_breaks(x: torch.Tensor) -> None:
    scale = 1.0
    while True:
        scale = scale / 2
        if scale < 0.1:
            break
    reveal(scale)  # range: [0, 0.1]
    found = 0.5
    for row in x:
        found = row.sigmoid()
        if row.sum() > 0:
            break
    reveal(found)  # range: [0, 1]


def with_else(x: torch.Tensor) -> None:
    for row in x:
        if row.sum() > 1e9:
            break
    else:
        p = x.sigmoid()
        reveal(p)  # range: [0, 1]


def else_is_passed_by(n: int) -> None:
    found = 1.0
    for index in range(3):
        if index == n:
            found = 0.0
            break
    else:
        found = 2.0
        reveal(found)  # range: [2, 2]
    reveal(found)  # range: [0, 2] of integers
    while n > 0:
        n -= 1
        if n == 5:
            break
    else:
        reveal(n)  # range: (-inf, 0]
    reveal(n)  # range: (-inf, 5]


def over_sources(x: torch.Tensor) -> None:
    for index in range(3):
        reveal(index)  # range: [0, inf) of integers
    for index in range(-2, 3):
        reveal(index)  # range: (-inf, inf)
    [reveal(index) for index in range(3)]  # range: [0, inf) of integers
    for index, row in enumerate(x.sigmoid()):
        reveal(index)  # range: (-inf, inf)
        reveal(row)  # range: (-inf, inf)
    for row in x.sigmoid():
        reveal(row)  # range: (-inf, inf)


def changed_in_place(x: torch.Tensor) -> None:
    p = x.sigmoid()
    q = p.clone()
    for _ in range(2):
        reveal(q)  # range: (-inf, inf)
        q.mul_(3)
    r = x.sigmoid().detach()
    for _ in range(2):
        reveal(r)  # range: (-inf, inf)
        torch.neg_(r)
    s = x.sigmoid().detach()
    t = s
    for _ in range(2):
        reveal(s)  # range: (-inf, inf)
        t.add_(1)
    u = x.sigmoid().detach()
    first = u[0]
    for _ in range(2):
        reveal(u)  # range: (-inf, inf)
        first.sub_(3)
    reveal(u)  # range: (-inf, inf)


def comprehensions(x: torch.Tensor, n: int) -> None:
    [reveal(row.sigmoid()) for row in x]  # range: [0, 1]
    [reveal(value) for value in (n, 2) if value > 0]  # range: (0, inf)
    {index: reveal(x.softmax(-1)) for index in range(2)}  # range: [0, 1]
    sum(reveal(row.abs().sum()) for row in x)  # range: [0, inf)
    reveal([row.sigmoid() for row in x])  # range: (-inf, inf)
    reveal(sum(row.abs().sum() for row in x))  # range: (-inf, inf)


def lambdas(x: torch.Tensor) -> None:
    shown = lambda value: reveal(value.sigmoid())  # range: [0, 1]
    shown(x)
    squash = lambda value: value.sigmoid()
    reveal(squash(x))  # range: [0, 1]
    reveal((lambda value: value.relu() + 1)(x))  # range: [1, inf)
    scaled = lambda value, by=0.5: value.sigmoid() * by
    reveal(scaled(x, 30))  # range: (-inf, inf)


def inner_functions(x: torch.Tensor) -> None:
    p = x.sigmoid()

    def inner(y):
        reveal(p)  # range: [0, 1]
        return y.softmax(-1)

    reveal(inner(x))  # range: [0, 1]

    n = 1.0

    def later():
        reveal(n)  # range: (-inf, inf)

    n = 0.0
    later()
    reveal(n)  # range: [0, 0]

    def scaled(y, by=0.5):
        return y.sigmoid() * by

    reveal(scaled(x, by=20.0))  # range: (-inf, inf)

    def rows(y):
        yield from y.sigmoid()

    reveal(rows(x))  # range: (-inf, inf)
