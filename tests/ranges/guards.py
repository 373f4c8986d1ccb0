"""What conditions have told on the way to an expression: branches, early exits, assertions, loops, masks."""

import torch


def branches(x: torch.Tensor, n: int) -> None:
    if n > 0:
        reveal(n)  # range: (0, inf)
    else:
        reveal(n)  # range: (-inf, 0]
    if n >= 1:
        reveal(n)  # range: [1, inf)
    elif n == 0:
        reveal(n)  # range: [0, 0]
    else:
        reveal(n)  # range: (-inf, 1] except 0
    if n != 0:
        reveal(n)  # range: (-inf, inf) except 0
    if 0 < n < 10:
        reveal(n)  # range: (0, 10]
    if not n <= 0:
        reveal(n)  # range: (0, inf)
    if n:
        reveal(n)  # range: (-inf, inf) except 0
    if not n:
        reveal(n)  # range: [0, 0]
    reveal(n)  # range: (-inf, inf)


def of_counts(x: torch.Tensor) -> None:
    count = (x > 0).sum()
    if count > 0:
        reveal(count)  # range: [1, inf) of integers
    if count > 1:
        reveal(count)  # range: [2, inf) of integers
        reveal(count - 1)  # range: [1, inf) of integers
    if count == 0:
        reveal(count)  # range: [0, 0]
    if 0 != count:
        reveal(count)  # range: [1, inf) of integers
    if len(x) > 0:
        reveal(len(x))  # range: [1, inf) of integers
    if x.numel():
        reveal(x.numel())  # range: [1, inf) of integers
    if x.shape[0] > 2:
        reveal(x.shape[0])  # range: [3, inf) of integers
    mask = x > 0
    if mask.any():
        reveal(mask.sum())  # range: [1, inf) of integers
    if mask.sum() > 0:
        reveal(mask.sum())  # range: [1, inf) of integers
    if count.item() > 0:
        reveal(count)  # range: [1, inf) of integers


def both_and_either(a: float, b: float) -> None:
    if a > 0 and b > 1:
        reveal(a)  # range: (0, inf)
        reveal(b)  # range: [1, inf)
    if a > 0 or b > 1:
        reveal(a)  # range: (-inf, inf)
    if not (a > 0 or b > 1):
        reveal(a)  # range: (-inf, 0]
    if not (a > 0 and b > 1):
        reveal(a)  # range: (-inf, inf)
    if (a > 0 and b > 1) or b > 5:
        reveal(b)  # range: (-inf, inf)
    if a != 0 and reveal(a) > 0:  # range: (-inf, inf) except 0
        reveal(a)  # range: (-inf, inf) except 0
    if a == 0 or reveal(a) > 0:  # range: (-inf, inf) except 0
        reveal(a)  # range: (-inf, inf)


def early_return(n: int) -> None:
    if n == 0:
        return
    reveal(n)  # range: (-inf, inf) except 0
    if n < 0:
        return
    reveal(n)  # range: (0, inf)


def early_raise(n: int, m: int) -> None:
    if n <= 0:
        raise ValueError(n)
    reveal(n)  # range: (0, inf)
    if m < 1 or n > 5:
        raise ValueError(m)
    reveal(m)  # range: [1, inf)
    reveal(n)  # range: (0, 5]


def asserted(x: torch.Tensor, n: int) -> None:
    assert n > 0
    reveal(n)  # range: (0, inf)
    assert x.sum() != 0, "empty"
    reveal(x.sum())  # range: (-inf, inf) except 0
    assert (x > 0).all()
    reveal(x)  # range: (0, inf)
    reveal(x.log())  # range: [-103.279, inf)


def asserted_of_all(x: torch.Tensor) -> None:
    assert torch.all(x >= 0)
    reveal(x)  # range: [0, inf)
    reveal(x.sqrt())  # range: [0, inf)


def repaired(n: int, x: torch.Tensor) -> None:
    if n == 0:
        n = 1
    reveal(n)  # range: (-inf, inf) except 0
    total = x.abs().sum()
    if total == 0:
        total = torch.ones(())
    reveal(total)  # range: (0, inf)
    scale = x.norm().item()
    if scale < 1e-6:
        scale = 1.0
    reveal(scale)  # range: [1e-06, inf)


def assigned_again(n: int, m: int) -> None:
    if n > 0:
        reveal(n)  # range: (0, inf)
        n = m
        reveal(n)  # range: (-inf, inf)
    if m > 0:
        m -= 5
        reveal(m)  # range: [-5, inf)


def chosen(n: int, x: torch.Tensor) -> None:
    reveal(n if n > 0 else 1)  # range: (0, inf)
    reveal(1 if n == 0 else n)  # range: (-inf, inf) except 0
    reveal(x.sum() if x.numel() > 0 else 0.0)  # range: (-inf, inf)
    total = x.abs().sum()
    reveal(total if total > 0 else torch.ones(()))  # range: (0, inf)
    reveal(1 / n if n != 0 else 0)  # range: (-inf, inf)
    reveal(len(x) or 1)  # range: [1, inf) of integers
    reveal(n or 1)  # range: (-inf, inf) except 0
    reveal(n and 5)  # range: [0, 5] of integers


def loops_with_a_condition(n: int, x: torch.Tensor) -> None:
    while n > 0:
        reveal(n)  # range: (0, inf)
        n -= 1
    reveal(n)  # range: (-inf, 0]
    m = x.shape[0]
    while m != 0:
        reveal(m)  # range: (-inf, inf) except 0
        m = m // 2


def skipped_in_a_loop(x: torch.Tensor) -> None:
    for row in x:
        count = (row > 0).sum()
        if count == 0:
            continue
        reveal(count)  # range: [1, inf) of integers
    for row in x:
        size = row.norm()
        if size == 0:
            break
        reveal(size)  # range: (0, inf)


def caught(a: float, b: float) -> None:
    try:
        share = a / b
        reveal(share)  # range: (-inf, inf)
    except ZeroDivisionError:
        share = 0.0
    reveal(share)  # range: (-inf, inf)


def walrus(x: torch.Tensor) -> None:
    if (count := (x > 0).sum()) > 0:
        reveal(count)  # range: [1, inf) of integers
    total = x.sum()
    if total > 0 and (total := total - 10) < 5:
        reveal(total)  # range: [-10, 5]
    if (size := x.numel()) and size > 3:
        reveal(size)  # range: [3, inf) of integers


def cut_to_integers(f: float) -> None:
    if int(f) > 0:
        reveal(f)  # range: (0, inf)
    else:
        reveal(f)  # range: (-inf, inf)
    if int(f) == 0:
        reveal(f)  # range: (-inf, inf)
    if float(f) == 0:
        reveal(f)  # range: [0, 0]
    reveal(int(max(f, 0.5)))  # range: [0, inf) of integers


def of_single_elements(x: torch.Tensor) -> None:
    if x.max() > 0:
        reveal(x)  # range: (-inf, inf)
    if (x > 0).any():
        reveal(x)  # range: (-inf, inf)
    if not (x > 0).any():
        reveal(x)  # range: (-inf, 0]
    if (x == 0).all():
        reveal(x)  # range: [0, 0]
    if not (x > 0).all():
        reveal(x)  # range: (-inf, inf)


def matched(n: int) -> None:
    match n:
        case 0:
            reveal(n)  # range: (-inf, inf)
        case m if m > 0:
            reveal(m)  # range: (0, inf)
        case _:
            reveal(n)  # range: (-inf, inf)


def of_where(x: torch.Tensor) -> None:
    reveal(torch.where(x > 0, x, torch.ones_like(x)))  # range: (0, inf)
    reveal(torch.where(x > 0, x.log(), torch.zeros_like(x)))  # range: [-inf, inf) or nan
    safe = torch.where(x > 0, x, 1.0)
    reveal(torch.where(x > 0, safe.log(), 0.0))  # range: [-103.279, inf)
    reveal(x.where(x > 0, torch.ones_like(x)))  # range: (0, inf)


def of_where_by_a_method(x: torch.Tensor) -> None:
    reveal(torch.where(x.gt(0), x, torch.ones_like(x)))  # range: (0, inf)
    reveal(torch.where(torch.le(x, 2), x, 1.0))  # range: (-inf, 2]
    reveal(1 / torch.where(x.eq(0), 1.0, x))  # range: (-inf, inf)


def of_where_by_size(x: torch.Tensor) -> None:
    reveal(torch.where(x.abs() < 2, x, 1.0))  # range: [-2, 2]
    reveal(torch.where(torch.square(x) <= 4, x, 1.0))  # range: [-2, 2]
    reveal(torch.where(x**2 <= 4, x, 1.0))  # range: [-2, 2]
    reveal(1 / torch.where(x.abs() > 1e-3, x, 1.0))  # range: (-inf, inf)
    reveal(1 / torch.where(x**2 == 0, 1.0, x))  # range: (-inf, inf)
    reveal(1 / torch.where(x.abs() < 2, x, 1.0))  # range: [-inf, inf]


def of_attributes_and_items(x: torch.Tensor) -> None:
    values = [x.sum().item(), 2.0]
    if values[0] > 0:
        reveal(values[0])  # range: (0, inf)
    if x.grad is None and x.max() > 0:
        reveal(x.max())  # range: (0, inf)
    sizes = {"n": x.numel()}
    if sizes["n"] > 0:
        reveal(sizes["n"])  # range: (0, inf)


def behind_a_name(x: torch.Tensor) -> None:
    total = x.abs().sum()
    is_empty = total == 0
    if is_empty:
        return
    reveal(total)  # range: [0, inf)


def above_a_range(x: torch.Tensor, y: torch.Tensor) -> None:
    size = x.abs().sum()
    if size > y.clamp(min=2).mean():
        reveal(1 / size)  # range: (0, 0.5]
    if size > y.abs().sum():
        reveal(size)  # range: (0, inf)
    if size > y.sum():
        reveal(size)  # range: [0, inf)


def between_two_ends(x: torch.Tensor) -> None:
    if torch.min(x) <= -1 or torch.max(x) >= 1:
        return
    reveal(1 - x)  # range: [5.96046e-08, 2]
    reveal(torch.log((1 + x) / (1 - x)))  # range: [-17.3287, 17.3287]


def by_the_share_that_a_mask_selects(x: torch.Tensor) -> None:
    chosen = x > 1
    share = chosen.float().mean()
    if share.item() > 0:
        reveal(x[chosen].mean())  # range: [0.999999, inf)
    if share > 0:
        reveal(x[chosen].mean())  # range: [0.999999, inf)


def multiplied_with_a_test_of_itself(x: torch.Tensor) -> None:
    reveal(x * (x > -100))  # range: [-100, inf)
    reveal((x < 5) * x)  # range: (-inf, 5]
    reveal(-100 * (x <= -100) + x * (x > -100))  # range: [-200, inf)


def a_size_that_is_not_one(x: torch.Tensor) -> None:
    if x.shape[0] == 1:
        return
    reveal(x.shape[0])  # range: [2, inf) of integers
