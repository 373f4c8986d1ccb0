"""A name holds what was assigned to it last, however the assignment is written."""

import torch


def unpacked(x: torch.Tensor) -> None:
    p, q = x.sigmoid(), x.tanh()
    reveal(p)  # range: [0, 1]
    reveal(q)  # range: [-1, 1]
    p, q = q, p
    reveal(p)  # range: [-1, 1]
    reveal(q)  # range: [0, 1]
    (a, (b, c)) = (1, (2.5, x.relu()))
    reveal(a)  # range: [1, 1]
    reveal(b)  # range: [2.5, 2.5]
    reveal(c)  # range: [0, inf)
    first, *rest = x.sigmoid(), 1, 2
    reveal(first)  # range: (-inf, inf)
    reveal(rest)  # range: (-inf, inf)
    values, indices = x.sigmoid().max(dim=-1)
    reveal(values)  # range: [0, 1]
    reveal(indices)  # range: [0, inf) of integers
    [d, e] = [3, 4]
    reveal(d + e)  # range: [7, 7]
    top, _ = torch.topk(x.softmax(-1), 2)
    reveal(top)  # range: [0, 1]
    left, right = x.sigmoid().chunk(2, dim=-1)
    reveal(left)  # range: [0, 1]
    reveal(right)  # kind: tensor


def several_targets(x: torch.Tensor) -> None:
    p = q = x.sigmoid()
    reveal(p)  # range: [0, 1]
    reveal(q)  # range: [0, 1]
    p: torch.Tensor = x.tanh()
    reveal(p)  # range: [-1, 1]
    reveal(q)  # range: [0, 1]


def augmented(x: torch.Tensor) -> None:
    p = x.sigmoid()
    p = p + 1
    reveal(p)  # range: [1, 2]
    p += 1
    reveal(p)  # range: [2, 3]
    p *= 2
    reveal(p)  # range: [4, 6]
    p /= 4
    reveal(p)  # range: [1, 1.5]
    p -= 1
    reveal(p)  # range: [0, 0.5]
    p **= 2
    reveal(p)  # range: [0, 0.25]
    q = r = x.sigmoid()
    r += 1
    reveal(q)  # range: [1, 2]
    s = x.sigmoid()
    t = s.clone()
    t += 1
    reveal(s)  # range: [0, 2]
    first = s.sum().item()
    s -= 1
    reveal(first)  # range: [0, inf)
    a = b = 1.0
    b += 1
    reveal(a)  # range: [1, 1]
    reveal(b)  # range: [2, 2]
    n = 7
    n //= 2
    reveal(n)  # range: (-inf, inf)


def in_place(x: torch.Tensor) -> None:
    p = x.sigmoid()
    p.clamp_(min=1e-3)
    reveal(p)  # range: [0.001, 1]
    q = p
    q.add_(1)
    reveal(p)  # range: [1.001, 2]
    q.zero_()
    reveal(q)  # range: [0, 0]
    r = x.sigmoid()
    torch.neg_(r)
    reveal(r)  # range: [-1, 0]
    s = x.sigmoid()
    s.data.mul_(5)
    reveal(s)  # range: [0, 5]
    t = x.sigmoid()
    u = torch.empty(4, 4)
    torch.add(t.detach(), 1, out=u)
    reveal(t)  # range: [0, 1]
    reveal(u)  # range: (-inf, inf)


def changed_through_a_part(x: torch.Tensor) -> None:
    a = x.sigmoid()
    a[0].add_(5)
    reveal(a)  # range: [0, 6]
    b = x.sigmoid()
    b[:, 0] *= 5
    reveal(b)  # range: [0, 5]
    c = x.sigmoid()
    row = c[0]
    row.mul_(3)
    reveal(c)  # range: [0, 3]
    d = x.sigmoid()
    flat = d.view(-1)
    flat[0] = 9
    reveal(d)  # range: [0, 9]
    e = x.sigmoid().detach()
    for row in e:
        row.add_(1)
    reveal(e)  # range: (-inf, inf)
    f = x.sigmoid().detach()
    f.data = x.detach()
    reveal(f)  # range: (-inf, inf)
    g = x.sigmoid()
    g.t().add_(2)
    reveal(g)  # range: [0, 3]
    h = (torch.ones(3), 1)
    h[0].zero_()
    reveal(h[0])  # range: (-inf, inf)
    k = torch.ones(3)
    m = torch.ones(3)
    either = k if x.sum() > 0 else m
    either.zero_()
    reveal(k)  # range: [0, 1] of integers
    reveal(m)  # range: [0, 1] of integers
    for part in (k, m):
        part.sub_(7)
    reveal(k)  # range: (-inf, inf)
    o = torch.ones(3)
    o.numpy()[0] = 0
    reveal(o)  # range: (-inf, inf)
    p = torch.ones(3)
    erase(p)
    reveal(p)  # range: (-inf, inf)
    q = torch.ones(3)
    erase_a_copy(q)
    reveal(q)  # range: [1, 1]


def erase(values):
    values.zero_()


def erase_a_copy(values):
    values = values.clone()
    values.zero_()


def walrus(x: torch.Tensor) -> None:
    reveal((p := x.sigmoid()))  # range: [0, 1]
    reveal(p)  # range: [0, 1]
    y = (q := x.relu()) + 1
    reveal(q)  # range: [0, inf)
    reveal(y)  # range: [1, inf)


def deleted(x: torch.Tensor) -> None:
    p = x.sigmoid()
    del p
    p = x.tanh()
    reveal(p)  # range: [-1, 1]


def paths_that_meet(x: torch.Tensor, flag: bool) -> None:
    if flag:
        p = x.sigmoid()
    else:
        p = x.sigmoid() - 1
    reveal(p)  # range: [-1, 1]
    if flag:
        q = x.sigmoid()
    else:
        q = x
    reveal(q)  # range: (-inf, inf)
    r = 1.0
    if flag:
        r = 2.0
    reveal(r)  # range: [1, 2] of integers
    try:
        s = x.sigmoid()
    except ValueError:
        s = x.tanh()
    reveal(s)  # range: [-1, 1]
    with torch.no_grad():
        t = x.sigmoid()
    reveal(t)  # range: [0, 1]


def matched(x: torch.Tensor, how: str) -> None:
    match how:
        case "mean":
            p = x.sigmoid().mean()
        case "sum":
            p = x.softmax(-1).sum() * 0
        case _:
            p = x.tanh().sum() * 0
    reveal(p)  # range: [0, 1]
    match x.sigmoid():
        case found:
            reveal(found)  # range: (-inf, inf)


def star_arguments(x: torch.Tensor) -> None:
    sizes = (4, 4)
    reveal(x.sigmoid().view(*sizes))  # range: (-inf, inf)
    both = [x.sigmoid(), x.relu()]
    reveal(torch.maximum(*both))  # range: (-inf, inf)
    options = {"min": 0.0}
    reveal(x.clamp(**options))  # range: (-inf, inf)
    reveal(torch.add(x.sigmoid(), other=1))  # range: [1, 2]
    reveal(torch.softmax(input=x, dim=-1))  # range: [0, 1]
    reveal(x.sum(axis=0).abs())  # range: [0, inf)


def parts(x: torch.Tensor) -> None:
    pair = (x.sigmoid(), x.tanh())
    reveal(pair[0])  # range: [0, 1]
    reveal(pair[-1])  # range: [-1, 1]
    for index in range(2):
        reveal(pair[index])  # range: (-inf, inf)
    table = {"p": x.sigmoid()}
    reveal(table["p"])  # range: (-inf, inf)


def arithmetic_of_numbers() -> None:
    reveal(2 + 3 * 4)  # range: [14, 14]
    reveal(1 / 4)  # range: [0.25, 0.25]
    reveal(2**10)  # range: [1024, 1024]
    reveal(-1e-8)  # range: [-1e-08, -1e-08]
    reveal(7 // 2)  # range: [3, 3]
    reveal(7 % 4)  # range: [3, 3]
    reveal(1 - 1e-7)  # range: [1, 1]
    reveal(True)  # range: [1, 1]
    reveal(1e400)  # range: inf


def elements_of_comprehensions(x: torch.Tensor) -> None:
    kept = [each.sigmoid().clamp(0.1, 0.9) for each in (x, -x, 2 * x)]
    reveal(kept[0])  # range: [0.1, 0.9]
    reveal(kept[-1].log())  # range: [-2.30259, -0.10536]
    for each in kept:
        reveal(each)  # range: [0.1, 0.9]
    kept.append(x)
    reveal(kept[0])  # range: (-inf, inf)
    named = {each: each * 0.1 for each in (1.0, 2.0)}
    for each in named:
        reveal(each)  # range: (-inf, inf)
