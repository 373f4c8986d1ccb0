"""What the analysis knows beyond one function: helpers, layers, objects, other files, callers."""

from __future__ import annotations

import pytest

from nanlint.analysis.op_graph import made_from
from nanlint.api import check_source
from nanlint.settings import Settings
from tests.analysed import graph_of, ranges, revealed, shown_in


def test_a_helpers_result_is_repeated_at_the_call_with_its_making() -> None:
    source = """
        def spread(x, eps=1e-6):
            return (x - x.mean()).abs() + eps

        def f(x: torch.Tensor):
            reveal(spread(x.sigmoid()))
            reveal(spread(x, eps=1.0))
    """
    values = revealed(source)
    made = made_from(values[0])
    inner = made_from(made.operands["input"]) if made is not None else None
    assert [str(value.range) for value in values] == ["[1e-06, 1]", "[1, inf)"]
    assert (made.function if made else "", inner.function if inner else "") == ("torch.add", "torch.abs")


def test_a_default_holds_until_a_call_says_otherwise() -> None:
    source = """
        def scaled(x, by=0.5, low=1e-6):
            return x.sigmoid() * by + low

        def guarded(x, eps=1e-6):
            if eps > 0:
                return x.relu() + eps
            return x.relu()

        def f(x: torch.Tensor):
            reveal(scaled(x))
            reveal(scaled(x, 30.0))
            reveal(scaled(x, low=-1.0))
            reveal(guarded(x, -5.0))
    """
    assert ranges(source) == ["[1e-06, 0.500001]", "[1e-06, 30]", "[-1, -0.5]", "[-5, inf)"]


def test_a_helper_that_changes_its_argument_changes_it_for_the_caller() -> None:
    source = """
        def clear(values, others):
            others = others.clone()
            others.zero_()
            deeper(values)

        def deeper(values):
            values.view(-1)[0] = 9

        def f(x: torch.Tensor):
            a, b = x.sigmoid(), x.sigmoid()
            clear(a, b)
            reveal(a)
            reveal(b)
    """
    assert ranges(source) == ["(-inf, inf)", "[0, 1]"]


def test_a_closure_sees_names_as_they_are_when_it_is_called() -> None:
    source = """
        def f(x: torch.Tensor):
            fixed, moved, shared = 1.0, 1.0, 1.0

            def read():
                reveal(fixed)
                reveal(moved)
                reveal(shared)

            def write():
                nonlocal shared
                shared = work()

            moved = 0.0
            read()
            reveal(moved)
            reveal(shared)
    """
    assert ranges(source) == ["[1, 1]", "(-inf, inf)", "(-inf, inf)", "[0, 0]", "(-inf, inf)"]


def test_results_are_known_by_element() -> None:
    source = """
        def parts(x):
            return {"p": x.sigmoid(), "rest": (x.tanh(), x.relu())}

        def f(x: torch.Tensor):
            found = parts(x)
            reveal(found["p"])
            reveal(found["rest"][0])
            first, second = found["rest"]
            reveal(second)
            values, indices = x.sigmoid().max(dim=-1)
            reveal(values)
            reveal(indices)
    """
    assert ranges(source) == ["[0, 1]", "[-1, 1]", "[0, inf)", "[0, 1]", "[0, inf)"]


def test_a_sequential_is_its_last_layer() -> None:
    source = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1), nn.Sigmoid())
                self.gates = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.Softmax(-1))])

            def forward(self, x):
                reveal(self.net(x))
                for gate in self.gates:
                    reveal(gate(x))
                return self.net(x)

        def f(x: torch.Tensor):
            reveal(Net()(x))
    """
    assert ranges(source) == ["[0, 1]"] * 3


def test_attributes_are_known_over_methods_bases_and_classes_below() -> None:
    source = """
        class Base:
            floor = 2.0

            def __init__(self, eps=1e-5):
                self.eps = eps
                self.rate = 1.0
                self.scale = 0.5

            def later(self):
                self.rate = 3.0

            def read(self):
                reveal(self.floor)
                reveal(self.rate)
                reveal(self.scale)

        class Below(Base):
            def __init__(self):
                super().__init__()
                self.scale = 4.0

        def f():
            reveal(Base().scale)
            reveal(Base(eps=0.0).eps)
            reveal(Below().floor)
    """
    assert ranges(source) == ["[2, 2]", "[1, 3]", "[0.5, 4]", "[0.5, 0.5]", "[0, 0]", "[2, 2]"]


def test_a_method_that_sets_an_attribute_ends_what_a_guard_told_of_it() -> None:
    source = """
        class Meter:
            def __init__(self):
                self.n = 0

            def update(self, k):
                self.n += k

            def twice(self, k):
                self.update(k)

            def mean(self, k):
                if self.n > 0:
                    reveal(self.n)
                    self.twice(k)
                    reveal(self.n)
    """
    assert ranges(source) == ["(0, inf)", "(-inf, inf)"]


def test_other_files_are_known_by_name() -> None:
    main = """
        from helper import EPS, Net, squash
        import helper

        def f(x: torch.Tensor):
            reveal(squash(x))
            reveal(helper.squash(x))
            reveal(Net()(x))
            reveal(EPS)
            reveal(helper.LIMIT)
    """
    helper = """
        EPS: float = 1e-5
        FLOOR, LIMIT = -80.0, 80.0

        def squash(x):
            return x.sigmoid()

        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())

        class Net(Base):
            def forward(self, x):
                return self.head(x)
    """
    assert ranges(main, helper=helper) == ["[0, 1]", "[0, 1]", "[0, 1]", "[1e-05, 1e-05]", "[80, 80]"]


def test_constants_are_known_through_the_files_that_pass_them_on() -> None:
    values = ranges(
        """
            from passing import EPS, FLOOR, pi
            from stars import *
            def f():
                reveal(EPS)
                reveal(FLOOR)
                reveal(CEILING)
                reveal(pi)
        """,
        passing="from constants import EPS\nfrom stars import *\nfrom math import pi\nfrom passing import nothing\n",
        stars="from constants import *\nfrom passing import *\nCEILING: float = 8.0\n",
        constants="EPS, FLOOR = 1e-6, 0.5\n",
    )
    assert values == ["[1e-06, 1e-06]", "[0.5, 0.5]", "[8, 8]", "[3.14159, 3.14159]"]


def test_a_function_hides_the_file_of_its_name_in_a_package_that_imports_it() -> None:
    main = """
        from ops import distance
        from ops.distance import distance as itself
        def f(x):
            reveal(distance(x))
            reveal(itself(x))
    """
    files = {
        "ops/__init__": "from .distance import distance\n",
        "ops/distance": "def distance(x):\n    return x.exp() + 1\n",
    }
    assert ranges(main, **files) == ["[1, inf]", "[1, inf]"]


def test_a_star_brings_what_a_file_imports() -> None:
    source = """
        from common import *
        def f(x):
            reveal(torch.relu(F.softmax(x, dim=0)))
    """
    common = "import torch\nimport torch.nn.functional as F\n"
    assert [str(value.range) for value in revealed(source, header="", common=common)] == ["[0, 1]"]


def test_what_a_helper_answers_is_asked_by_its_caller() -> None:
    source = """
        def is_empty(mask):
            return not mask.any()

        def f(mask: torch.Tensor):
            mask = mask > 0
            if is_empty(mask):
                return
            reveal(mask.sum())
    """
    assert ranges(source) == ["[1, inf)"]


def test_a_part_of_what_a_caller_passes_is_taken_as_it_is() -> None:
    source = """
        def first(values, place):
            return values[place]

        def f(x: torch.Tensor):
            reveal(first(x.sigmoid(), 0))
            reveal(first((x, x.relu()), 1))
    """
    assert ranges(source) == ["[0, 1]", "[0, inf)"]


def test_a_guard_an_autocast_and_a_no_grad_of_the_caller_hold_in_a_helper() -> None:
    source = """
        def total(mask):
            return mask.sum()

        def product(x, w):
            return x @ w

        def f(mask: torch.Tensor, x: torch.Tensor, w: torch.Tensor):
            mask = mask.abs()
            if mask.sum() == 0:
                return
            reveal(total(mask))
            with torch.autocast("cuda", dtype=torch.float16):
                reveal(product(x, w))
            with torch.no_grad():
                reveal(product(x, w))
    """
    guarded, half, cut = revealed(source)
    assert not guarded.range.has_zero
    assert (half.dtype, cut.detached) == ("float16", True)


def test_a_global_that_a_function_sets_is_not_known() -> None:
    source = """
        FIXED, COUNT = 1.0, 0

        def count():
            global COUNT
            COUNT = COUNT + 1

        def f():
            reveal(FIXED)
            reveal(COUNT)
    """
    assert ranges(source) == ["[1, 1]", "(-inf, inf)"]


def test_generators_and_coroutines_are_not_what_they_return() -> None:
    source = """
        def rows(x):
            yield x.sigmoid()
            return x.sigmoid()

        async def later(x):
            return x.sigmoid()

        async def f(x: torch.Tensor):
            reveal(rows(x))
            reveal(later(x))
            reveal(await later(x))
    """
    assert ranges(source) == ["(-inf, inf)", "(-inf, inf)", "[0, 1]"]


def test_what_a_method_stores_under_a_key_is_known_to_whoever_calls_it() -> None:
    source = """
        class Loss(nn.Module):
            def _bounded(self, out):
                out["heat"] = out["heat"].sigmoid().clamp(1e-4, 1 - 1e-4)
                if "depth" in out:
                    out["depth"] = out["depth"].sigmoid()
                return out

            def forward(self, outputs):
                out = self._bounded(outputs[0])
                reveal(out["heat"])
                reveal(out["depth"])
                reveal(out["size"])
    """
    assert ranges(source) == ["[0.0001, 0.9999]", "(-inf, inf)", "(-inf, inf)"]


def test_with_its_callers_a_value_is_what_all_of_them_pass() -> None:
    source = """
        def _log(x, eps):
            reveal(x)
            reveal(x + eps)
            return (x + eps).log()

        def f(y: torch.Tensor):
            return _log(y.sigmoid(), 1e-6) + _log(y.relu(), 1e-3)
    """
    graph, modules = graph_of(main=source)
    values = shown_in(graph, modules["main"])
    assert [str(value.range) for value in values] == ["(-inf, inf)", "(-inf, inf)"]
    assert [str(graph.with_callers(value).range) for value in values] == ["[0, inf)", "[1e-06, inf)"]


def test_a_call_in_a_loop_is_one_call_however_often_the_loop_is_interpreted() -> None:
    source = """
        def _step(x, k):
            return x * k

        def f(x: torch.Tensor):
            total = 0
            for _ in range(3):
                for _ in range(3):
                    total = total + _step(x, 0.5).abs()
            return total
    """
    graph, modules = graph_of(main=source)
    function = modules["main"].functions["_step"]
    passed = graph.passed(function, "k")
    assert (len(function.calls), str(passed.range) if passed else "") == (1, "[0.5, 0.5]")


def test_one_of_two_functions_returns_what_either_does() -> None:
    source = """
        def f(x: torch.Tensor, flag: bool):
            act = torch.sigmoid if flag else torch.tanh
            reveal(act(x))
    """
    assert ranges(source) == ["[-1, 1]"]


HEATMAPS = """
import torch
def _bounded(x):
    return {bounded}
def _focal(maps, target):
    return sum(-torch.log(each[target == 1]).sum() for each in maps)
def detection_loss(outputs, target):
    return _focal([_bounded(each) for each in outputs], target)
"""


@pytest.mark.parametrize(("bounded", "found"), [("x.sigmoid().clamp(1e-4, 1 - 1e-4)", []), ("x.exp()", ["NAN102"])])
def test_a_bound_on_each_element_of_a_list_reaches_what_the_list_is_passed_to(bounded: str, found: list[str]) -> None:
    findings = check_source(HEATMAPS.format(bounded=bounded), settings=Settings(select=("NAN102",), severity="info"))
    assert [each.code for each in findings] == found
