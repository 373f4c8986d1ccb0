"""What the analysis knows of values inside one function: keys, guards, spellings, branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanlint.analysis.op_graph import made_from
from nanlint.ops.interval import UNIT
from tests.analysed import ranges, revealed

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Value

SPELLINGS = [
    pytest.param("y = x - m\ny = y / s", "y = (x - m) / s", id="a name in between"),
    pytest.param("x.add_(-m)\nx.div_(s)\ny = x", "y = (x - m) / s", id="in place"),
    pytest.param("x -= m\nx /= s\ny = x", "y = (x - m) / s", id="augmented"),
    pytest.param("y = torch.div(torch.sub(x, m), s)", "y = (x - m) / s", id="functions"),
    pytest.param("y = x.sub(m).div(s)", "y = (x - m) / s", id="methods"),
    pytest.param("y = x + (-m)", "y = x - m", id="the negative added"),
    pytest.param("y = x + (-1.0)", "y = x - 1.0", id="a negative number added"),
    pytest.param("y = nn.Sigmoid()(x)", "y = torch.sigmoid(x)", id="a layer"),
    pytest.param("y = torch.max(x, m)", "y = torch.maximum(x, m)", id="the larger of two"),
]


@pytest.mark.parametrize(("one", "other"), SPELLINGS)
def test_what_differs_in_spelling_is_the_same_operation(one: str, other: str) -> None:
    first, second = (revealed(_function(body))[0] for body in (one, other))
    assert _making(first) == _making(second)


def _making(value: Value) -> tuple[object, ...]:
    """The operations behind a value, without names and places."""
    op = made_from(value)
    if op is None:
        return ()
    return (op.function, op.where, *(_making(operand) for operand in op.operands.values()))


def _function(body: str, name: str = "f") -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"def {name}(x: torch.Tensor, m: torch.Tensor, s: torch.Tensor):\n{lines}\n    reveal(y)\n"


def test_the_same_computation_on_the_same_values_is_the_same_value() -> None:
    source = """
        def f(x: torch.Tensor, m: torch.Tensor, s: torch.Tensor):
            reveal((x - m) / s)
            again = x
            shifted = again - m
            reveal(shifted / s)
            again.add_(-m)
            again.div_(s)
            reveal(again)
    """
    assert len({value.key for value in revealed(source)}) == 1


@pytest.mark.parametrize(
    "drawn", ["torch.rand(3)", "torch.rand_like(x)", "F.dropout(x)", "torch.dropout(x, 0.5, True)"]
)
def test_what_is_drawn_twice_is_not_the_same(drawn: str) -> None:
    first, second = revealed(f"def f(x: torch.Tensor):\n    reveal({drawn})\n    reveal({drawn})\n")
    assert first.key != second.key


def test_views_of_other_shapes_are_not_the_same_value() -> None:
    first, second = revealed("def f(x: torch.Tensor):\n    reveal(x.view(1, -1))\n    reveal(x.view(-1, 1))\n")
    assert first.key != second.key


def test_a_guard_on_the_mask_holds_for_what_it_selects() -> None:
    source = """
        def f(v: torch.Tensor, mask: torch.Tensor):
            if not mask.any():
                return
            chosen = v[mask]
            reveal(chosen)
            reveal(chosen.numel())
    """
    chosen, count = revealed(source)
    assert (chosen.some, str(count.range)) == (True, "[1, inf)")


def test_without_a_guard_a_mask_may_select_nothing() -> None:
    assert ranges("def f(v: torch.Tensor):\n    reveal(v[v > 0].numel())\n    reveal(v.numel())\n") == [
        "[0, inf)",
        "[1, inf)",
    ]


def test_a_guard_holds_for_the_value_whatever_it_is_called() -> None:
    source = """
        def f(x: torch.Tensor):
            mask = x > 0
            n = mask.sum()
            if mask.sum() > 0:
                reveal(n)
            if n > 0:
                reveal(mask.sum())
                reveal(n.float())
                reveal(n.item())
            count = mask.float().sum()
            if count == 0:
                return
            reveal(mask.float().sum())
    """
    assert ranges(source) == ["[1, inf)"] * 5


def test_a_guard_ends_where_the_value_is_changed_in_place() -> None:
    source = """
        def f(x: torch.Tensor):
            if (x > 0).all():
                reveal(x)
                x.sub_(1)
                reveal(x)
    """
    assert ranges(source) == ["(0, inf)", "[-1, inf)"]


def test_a_change_in_place_reaches_views_and_what_they_are_views_of() -> None:
    source = """
        def f(x: torch.Tensor):
            a = x.sigmoid()
            row = a.view(-1)[0]
            row += 4
            reveal(a)
            b = x.sigmoid()
            whole = b.t()
            b.zero_()
            reveal(whole)
            c = x.sigmoid()
            pair = (c, 1)
            c.mul_(3)
            reveal(pair[0])
            d = x.sigmoid()
            chosen = d[d > 0.5]
            chosen.fill_(7)
            reveal(d)
    """
    assert ranges(source) == ["[0, 5]", "[0, 1]", "[0, 3]", "[0, 1]"]


def test_learned_leaves_only_start_from_their_values() -> None:
    source = """
        def f():
            reveal(torch.zeros(3, requires_grad=True))
            reveal(torch.zeros(3).requires_grad_())
            later = torch.zeros(3)
            later.requires_grad = True
            reveal(later)
            reveal(nn.Parameter(torch.zeros(3)))
            reveal(torch.zeros(3))
    """
    known = [(value.learned, str(value.range)) for value in revealed(source)]
    assert known == [(True, "(-inf, inf)")] * 4 + [(False, "[0, 0]")]


def test_numpy_spellings_are_the_same_operations() -> None:
    source = """
        def f(x: np.ndarray):
            reveal(np.exp(x))
            reveal(np.sqrt(np.absolute(x)))
            reveal(np.clip(x, 0, 1))
            reveal(np.maximum(x, 1e-3))
            reveal(x / np.linalg.norm(x))
            reveal(x.std())
    """
    values = revealed(source)
    assert [(str(value.range), value.kind) for value in values] == [
        ("[0, inf]", "array"),
        ("[0, inf)", "array"),
        ("[0, 1]", "array"),
        ("[0.001, inf)", "array"),
        ("[-1, 1] or nan", "array"),
        ("[0, inf)", "array"),
    ]


def test_a_try_ends_with_what_either_end_leaves() -> None:
    source = """
        def f(x: torch.Tensor):
            p = x
            try:
                p = x.sigmoid()
                q = x.relu()
            except ValueError:
                p = x.tanh()
                q = 1.0
            else:
                q = q + 1
            finally:
                r = x.exp()
            reveal(p)
            reveal(q)
            reveal(r)
    """
    assert ranges(source) == ["[-1, 1]", "[1, inf)", "[0, inf]"]


def test_an_except_does_not_know_how_far_the_body_came() -> None:
    source = """
        def f(x: torch.Tensor):
            p = x.sigmoid()
            try:
                p = x.relu()
                work()
                p = p - 5
            except ValueError:
                reveal(p)
    """
    assert ranges(source) == ["(-inf, inf)"]


def test_a_match_takes_one_of_its_cases() -> None:
    source = """
        def f(how: str, n: int):
            scale = 0.0
            match how:
                case "mean":
                    scale = 1.0
                case "sum" | "total":
                    scale = 2.0
                case _:
                    scale = 3.0
            reveal(scale)
            match n:
                case 0:
                    return
                case size if size > 2:
                    reveal(size)
    """
    assert ranges(source) == ["[1, 3]", "[2, inf)"]


def test_a_walrus_binds_where_it_stands() -> None:
    source = """
        def f(x: torch.Tensor):
            if (n := (x > 0).sum()) > 0 and (m := n + 1) > 0:
                reveal(n)
                reveal(m)
            while (size := x.abs().sum()) > 1:
                x = x / 2
            reveal(size)
    """
    assert ranges(source) == ["[1, inf)", "[2, inf)", "[0, 1]"]


def test_a_with_keeps_what_its_body_binds() -> None:
    source = """
        def f(x: torch.Tensor):
            with open("log") as file, torch.no_grad():
                y = x.exp()
            reveal(y)
            reveal(x.exp())
    """
    assert [(str(value.range), value.detached) for value in revealed(source)] == [
        ("[0, inf]", True),
        ("[0, inf]", False),
    ]


def test_the_body_of_a_file_is_interpreted_like_a_function() -> None:
    source = """
        x = torch.rand(3)
        total = 0
        for _ in range(10):
            total += 1
            y = x.sigmoid()
        reveal(total)
        reveal(y)
        if total == 0:
            total = 1
        reveal(total)
    """
    assert ranges(source) == ["[0, inf)", "[0.5, 0.731059]", "[1, inf)"]


def test_a_loop_keeps_what_holds_in_every_round() -> None:
    source = """
        def f(x: torch.Tensor):
            total, best, mean = 0, -1.0, x.sigmoid()
            for row in x:
                total = total + row.abs().sum()
                best = max(best, row.sum().item())
                mean = mean * 0.9 + row.sigmoid() * 0.1
            reveal(total)
            reveal(best)
            reveal(mean)
    """
    assert ranges(source) == ["[0, inf)", "[-1, inf)", "[0, inf)"]


def test_a_loop_notices_changes_through_views_and_calls() -> None:
    source = """
        def shift(values):
            values.sub_(1)

        def f(x: torch.Tensor):
            a, b = x.sigmoid(), x.sigmoid()
            for _ in range(3):
                reveal(a)
                reveal(b)
                a.view(-1)[0] -= 1
                shift(b)
    """
    assert ranges(source) == ["(-inf, 1]", "(-inf, inf)"]


@pytest.mark.parametrize(
    "change",
    [
        "nn.init.normal_(a)",
        "F.dropout(a, 0.5, inplace=True)",
        "nn.Dropout(inplace=True)(a)",
        "torch.add(a, -5, out=a)",
        "[row.sub_(1) for row in a]",
        "a.t()[0] = -3",
        "a.data -= 4",
        "first, second = a.chunk(2); first.sub_(5)",
        "a.unheard_of_()",
    ],
)
def test_a_change_in_place_is_noticed_however_it_is_written(change: str) -> None:
    (value,) = revealed(f"def f(x: torch.Tensor):\n    a = x.sigmoid()\n    {change}\n    reveal(a)\n")
    assert not value.range.is_subset(UNIT)


def test_what_dicts_and_lists_hold_is_changed_through_their_elements() -> None:
    source = """
        def f(x: torch.Tensor):
            held = {"a": x.sigmoid()}
            for name, value in held.items():
                value.sub_(5)
            reveal(held["a"])
            rows = [x.sigmoid(), x.sigmoid()]
            for place in range(2):
                rows[place] -= 1
            reveal(rows[0])
            table = {"a": x.sigmoid()}
            same = table
            same["a"] = x
            reveal(table["a"])
            table.clear()
            reveal(table.get("a"))
    """
    assert ranges(source) == ["(-inf, inf)"] * 4


def test_a_name_that_was_set_to_another_in_an_earlier_round_changes_the_other() -> None:
    source = """
        def f(x: torch.Tensor):
            p, q = x.sigmoid(), x.sigmoid()
            current = p
            for _ in range(3):
                current.sub_(1)
                current = q
            reveal(q)
    """
    assert ranges(source) == ["(-inf, inf)"]


def test_a_walrus_in_a_part_that_may_not_be_evaluated_may_not_bind() -> None:
    source = """
        def f(x: torch.Tensor, flag):
            y = x.sigmoid()
            z = (y := x.tanh()) if flag else x
            reveal(y)
            n = 1
            flag and (n := 5)
            reveal(n)
            [n := place for place in range(-4, 3)]
            reveal(n)
    """
    assert ranges(source) == ["[-1, 1]", "[1, 5]", "(-inf, inf)"]


def test_an_autograd_function_makes_a_tensor() -> None:
    source = """
        class Doubled(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return 2 * x

            @staticmethod
            def backward(ctx, gradient):
                return 2 * gradient

        def f(x):
            reveal(Doubled.apply(x))
    """
    assert [value.kind for value in revealed(source)] == ["tensor"]


def test_a_flag_and_a_test_tell_what_the_test_tells() -> None:
    source = """
        def f(x: torch.Tensor, flag):
            n = (x > 0).sum()
            if flag and n > 0:
                reveal(n)
            if flag or n == 0:
                return x
            reveal(n)
    """
    assert [value.range.has_zero for value in revealed(source)] == [False, False]


def test_a_library_that_may_be_missing_is_known_where_it_is_used() -> None:
    (value,) = revealed("""
        try:
            import torch
        except ImportError:
            torch = None
        def f(x):
            reveal(torch.softmax(x, -1))
    """)
    assert value.op is not None
    assert value.op.function == "torch.softmax"
