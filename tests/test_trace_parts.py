"""The parts of the tracer, each by itself: loops, trails, numbers, places, repros."""

from __future__ import annotations

import ast
import copy
import pickle
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed, so nothing can be traced")

from nanlint.trace.attempts import Rewind  # noqa: E402 - it imports torch
from nanlint.trace.batches import Batches  # noqa: E402 - same
from nanlint.trace.diagnosis import Diagnosis, Link  # noqa: E402 - same
from nanlint.trace.events import Call  # noqa: E402 - same
from nanlint.trace.hooks import follow_calls  # noqa: E402 - same
from nanlint.trace.loops import RUNTIME, compiled, repeatable  # noqa: E402 - same
from nanlint.trace.marks import Marks  # noqa: E402 - same
from nanlint.trace.measure import FINITE, Flaws, flaws_of, is_finite, stats_of  # noqa: E402 - same
from nanlint.trace.places import Place  # noqa: E402 - same
from nanlint.trace.readings import Reading  # noqa: E402 - same
from nanlint.trace.reasons import Broken, reason_for  # noqa: E402 - same
from nanlint.trace.repro import literal, shrink  # noqa: E402 - same
from nanlint.trace.tracer import Tracer  # noqa: E402 - same
from nanlint.trace.vitals import Vitals  # noqa: E402 - same
from nanlint.trace.walk_back import Trail, walk_back  # noqa: E402 - same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAN, INF = float("nan"), float("inf")


class Again:
    """Loops that run the first turn again, without a session."""

    def __init__(self, times: int = 0) -> None:
        self.again = [True] * times
        self.swallowed: list[BaseException] = []

    def attempts(self, _batch: object = None) -> Iterator[bool]:
        yield False
        while self.again and self.again.pop(0):
            yield True

    def swallow(self, error: BaseException) -> bool:
        self.swallowed.append(error)
        return isinstance(error, Rewind)


def run(text: str, loops: object) -> dict[str, Any]:
    names: dict[str, Any] = {RUNTIME: loops, "Rewind": Rewind}
    exec(compiled(text.encode(), "script.py"), names)  # noqa: S102 - the texts stand below
    return names


class TestRepeatableLoops:
    @pytest.mark.parametrize(
        ("text", "seen"),
        [
            ("for i in range(4):\n    train(i)\n", [0, 1, 2, 3]),
            ("for i in range(4):\n    if i == 1: continue\n    train(i)\n", [0, 2, 3]),
            ("for i in range(4):\n    train(i)\n    if i == 1: break\nelse:\n    train('else')\n", [0, 1]),
            ("for i in range(2):\n    train(i)\nelse:\n    train('else')\n", [0, 1, "else"]),
            ("i = 0\nwhile i < 3:\n    train(i)\n    i += 1\n", [0, 1, 2]),
            ("for i in range(2):\n    for j in 'ab':\n        if j == 'b': break\n    train(j)\n", ["b", "b"]),
            ("def f():\n    for i in range(3):\n        train(i)\n        if i: return i\ntrain(f())\n", [0, 1, 1]),
            ("for i in range(2):\n    for j in ():\n        pass\n    else:\n        train(i)\n        break\n", [0]),
        ],
        ids=["for", "continue", "break skips else", "else", "while", "inner break", "return", "break in an inner else"],
    )
    def test_a_loop_does_what_it_did(self, text: str, seen: list[object]) -> None:
        assert run(f"seen = []\ntrain = seen.append\n{text}", Again())["seen"] == seen

    def test_a_turn_is_run_again_with_the_names_it_began_with(self) -> None:
        text = "seen = []\nx = 0\nfor i in range(2):\n    seen.append((i, x))\n    x += 1\n    i = None\n    step = len\n    step(seen)\n"
        assert run(text, Again(1))["seen"] == [(0, 0), (0, 0), (1, 1)]

    def test_names_of_a_function_are_given_back_too(self) -> None:
        text = (
            "seen = []\ndef f():\n    x = 0\n    for i in range(2):\n        seen.append((i, x))\n        x += 1\n"
            "        train()\ntrain = list\nf()\n"
        )
        assert run(text, Again(1))["seen"] == [(0, 0), (0, 0), (1, 1)]

    def test_a_rewind_leaves_the_rest_of_the_turn_out(self) -> None:
        text = "seen = []\nfor i in range(2):\n    seen.append(i)\n    if i == 0: raise Rewind(repeat=True)\n    seen.append('end')\n    list(map(train, ()))\n    train(0)\ntrain = None\n"
        text = "train = int\n" + text
        assert run(text, Again())["seen"] == [0, 1, "end"]

    def test_other_exceptions_pass(self) -> None:
        loops = Again()
        with pytest.raises(KeyError):
            run("for i in range(2):\n    {}['train']\n    train()\n", loops)
        assert [type(error) for error in loops.swallowed] == [KeyError]

    @pytest.mark.parametrize(
        "text",
        [
            "for i in range(3):\n    print(i)\n",
            "def batches():\n    for i in range(3):\n        train(i)\n        yield i\n",
            "async def f():\n    for i in range(3):\n        train(i)\n",
        ],
        ids=["no training in it", "a generator", "a coroutine"],
    )
    def test_other_loops_stay_as_they_are(self, text: str) -> None:
        assert ast.dump(repeatable(text, "x.py")) == ast.dump(ast.parse(text))

    def test_lines_stay_where_they_are(self) -> None:
        text = "\n\nfor i in range(1):\n    train()\n\n    1 / 0\ntrain = None\n"
        with pytest.raises(ZeroDivisionError) as caught:
            run(f"train = int\n{text}", Again())
        assert caught.traceback[-1].lineno == 6

    def test_what_is_beyond_us_is_run_as_it_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def too_deep(*_: object) -> None:
            raise RecursionError

        monkeypatch.setattr("nanlint.trace.loops.repeatable", too_deep)
        assert run("seen = []\nfor i in range(2):\n    train = seen.append\n    train(i)\n", None)["seen"] == [0, 1]


def traced(function: Callable[[], Any]) -> tuple[Any, Tracer]:
    tracer = Tracer()
    tracer.start()
    try:
        return function(), tracer
    finally:
        tracer.stop()


def trail_of(function: Callable[[], Any]) -> Trail:
    result, tracer = traced(function)
    last = tracer.maker_of(result)
    assert last is not None
    return walk_back(last, tracer.events)


class TestTrails:
    def test_a_masked_row_begins_at_the_softmax(self) -> None:
        trail = trail_of(lambda: torch.zeros(2, 2).masked_fill(torch.ones(2, 2).bool(), -INF).softmax(-1).sum())
        assert [event.operation for event in trail.events] == ["_softmax", "sum"]

    def test_a_mask_that_is_passed_on_is_left_alone(self) -> None:
        _, tracer = traced(lambda: (torch.full((2, 2), -INF).triu(1) + torch.ones(2, 2)).softmax(-1))
        assert [event.is_literal for event in tracer.events] == [True, True, True]

    def test_zero_times_an_infinity_that_is_written_down_breaks_there(self) -> None:
        trail = trail_of(lambda: (torch.zeros(2) * INF).sum())  # noqa: PLW0108 - the operations are to run later
        assert [event.operation for event in trail.events] == ["mul", "sum"]
        assert reason_for(Broken.of(trail.origin))[0] == "inf * 0 is NaN"

    def test_zero_times_log_of_zero_begins_at_the_log(self) -> None:
        trail = trail_of(lambda: (torch.zeros(2).log() * torch.zeros(2)).sum())  # noqa: PLW0108 - the operations are to run later
        assert [event.operation for event in trail.events] == ["log", "mul", "sum"]

    def test_of_two_beginnings_the_first_is_named(self) -> None:
        def difference() -> Any:
            zero = torch.zeros(1)
            first = zero / zero
            return (zero.log() * zero).sum() - first**2

        assert trail_of(difference).origin.operation == "div"

    def test_a_bad_value_from_outside_is_no_operation(self) -> None:
        outside = torch.tensor([1.0, NAN])
        trail = trail_of(lambda: (outside * 2).sum())  # noqa: PLW0108 - same
        assert (trail.origin.operation, trail.outside and trail.outside.tensor is outside) == ("mul", True)

    def test_memory_that_was_written_over_is_clean(self) -> None:
        def overwritten() -> Any:
            values = torch.zeros(2).log()
            values.zero_()
            return values + 1

        result, tracer = traced(overwritten)
        assert tracer.maker_of(result) is None

    def test_an_operation_in_place_is_judged_by_what_it_was_given(self) -> None:
        trail = trail_of(lambda: torch.zeros(2).log_())
        assert (trail.origin.operation, trail.origin.inputs[0].zeros) == ("log_", 2)

    def test_uninitialized_memory_is_nobodys_fault(self) -> None:
        def filled() -> Any:
            values = torch.empty(1000)
            values.fill_(1.0)
            return values

        assert traced(filled)[1].events == []


class TestMeasuring:
    @pytest.mark.parametrize(
        ("values", "flaws"),
        [
            ([1.0, 2.0], FINITE),
            ([], FINITE),
            ([1.0, NAN, INF], Flaws(nan=True, above=True)),
            ([-INF], Flaws(below=True)),
            ([3e38, 3e38], FINITE),
        ],
        ids=["finite", "empty", "NaN and inf", "-inf", "a sum that overflows"],
    )
    def test_flaws_are_exact(self, values: list[float], flaws: Flaws) -> None:
        tensor = torch.tensor(values)
        assert (flaws_of(tensor), is_finite(tensor)) == (flaws, not flaws)

    def test_complex_values_are_looked_at_too(self) -> None:
        assert flaws_of(torch.tensor([complex(0, INF)])) == Flaws(above=True)

    def test_statistics_are_those_of_the_finite_values(self) -> None:
        stats = stats_of("x", torch.tensor([0.0, 2.0, NAN, -INF]))
        assert (stats.low, stats.high, stats.mean, stats.zeros, stats.nan, stats.below) == (0.0, 2.0, 1.0, 1, 1, 1)

    def test_an_empty_tensor_has_statistics(self) -> None:
        assert stats_of("x", torch.zeros(0, 3)).count == 0


@pytest.mark.parametrize(
    ("operation", "values", "reason"),
    [
        ("log", [0.0, 1.0], ("1 of 2 values of `self` are 0, whose logarithm is -inf", "log of zero")),
        ("log", [-1.0, 1.0], ("1 of 2 values of the argument < 0, whose logarithm is NaN", "log of negative")),
        ("exp", [100.0], ("the exponent reaches 100; float32 overflows above 88.72", "exp overflow")),
        ("sqrt_", [-1.0], ("the value of the argument < 0 (down to -1)", "root of negative")),
        ("acos", [1.5], ("the argument reaches [1.5, 1.5], past the end of the domain", "outside the domain")),
        ("mean", [], ("there is nothing to take the mean of: the tensor is empty", "nothing")),
        ("some_op", [1e30], ("`self` reaches 1e+30, and the result leaves float32 (largest 3.403e+38)", "overflow")),
    ],
)
def test_the_reason_is_in_the_values(operation: str, values: list[float], reason: tuple[str, str]) -> None:
    assert reason_for(Broken(operation, (stats_of("self", torch.tensor(values)),))) == reason


def reason_of(function: Callable[[], Any]) -> tuple[str, str]:
    """The reason of the first operation that broke."""
    _, tracer = traced(function)
    return reason_for(Broken.of(tracer.events[0]))


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (
            lambda: torch.tensor([-300.0, 2.0]).half() ** 2,
            ("`self` reaches 300, and its square leaves float16 (largest 6.55e+04)", "overflow"),
        ),
        (lambda: torch.tensor([-1.0]) ** 0.5, ("the value of the argument < 0 (down to -1)", "root of negative")),
        (
            lambda: torch.tensor([-1.0]) ** 0.4,
            ("the value of the base < 0, and the power is a fraction", "negative base"),
        ),
        (lambda: torch.zeros(2) ** -1, ("2 of 2 values of `self` are 0, to a power that divides", "zero divisor")),
        (lambda: torch.ones(2) / 0, ("the divisor is 0", "zero divisor")),
        (lambda: torch.tensor([7e4]).half(), ("values up to 7e+04 do not fit float16 (largest 6.55e+04)", "overflow")),
        (
            lambda: torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([-100, -100])),
            ("every target is ignored, so the mean is taken of nothing: 0 / 0", "nothing"),
        ),
        (
            lambda: torch.full((1, 4), 200.0).half() @ torch.full((4, 1), 100.0).half(),
            ("`self` reaches 200 and `mat2` reaches 100, and the result leaves float16 (largest 6.55e+04)", "overflow"),
        ),
    ],
    ids=["square", "root", "fraction", "inverse", "number", "cast", "ignored", "product"],
)
def test_the_reason_names_what_happened(function: Callable[[], Any], reason: tuple[str, str]) -> None:
    assert reason_of(function) == reason


class TestVitals:
    def test_one_bad_gradient_among_many_is_seen(self) -> None:
        parameters = [torch.nn.Parameter(torch.ones(3)) for _ in range(4)]
        for parameter in parameters:
            parameter.grad = torch.ones(3)
        parameters[2].grad[1] = NAN
        assert Vitals().read(torch.optim.SGD(parameters, lr=0.1), 1, None).is_suspicious

    def test_sparse_and_mixed_gradients_are_read(self) -> None:
        table, weight = torch.nn.Embedding(4, 2, sparse=True), torch.nn.Parameter(torch.ones(1, dtype=torch.float64))
        (table(torch.tensor([1, 2])).sum() + weight.float().sum()).backward()
        reading = Vitals().read(torch.optim.SGD([table.weight, weight], lr=0.1), 1, None)
        assert reading.gradient_norm == pytest.approx(5**0.5)

    def test_accumulated_losses_are_added(self) -> None:
        vitals = Vitals()
        vitals.note_loss(torch.tensor(1.0))
        vitals.note_loss(torch.tensor(2.0))
        assert vitals.read(torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1), 1, None) == Reading(
            1, 3.0, None, 0.1
        )


class TestMarks:
    def test_random_numbers_come_again(self) -> None:
        import random  # noqa: PLC0415 - for this test only

        import numpy as np  # noqa: PLC0415 - same

        marks = Marks()
        mark = marks.take(0)
        first = (torch.rand(1).item(), random.random(), np.random.rand())  # noqa: NPY002, S311 - what users still call
        marks.return_to(mark)
        assert (torch.rand(1).item(), random.random(), np.random.rand()) == first  # noqa: NPY002, S311 - same

    def test_buffers_that_move_come_back(self) -> None:
        norm = torch.nn.BatchNorm1d(2)
        marks = Marks()
        marks.learn()
        norm(torch.ones(4, 2))
        mark = marks.take(0)
        before = norm.running_mean.clone()
        norm(torch.ones(4, 2) * 9)
        marks.return_to(mark)
        assert torch.equal(norm.running_mean, before)


class TestBatches:
    def iterator(self, dataset: object) -> Any:
        return SimpleNamespace(_dataset=dataset, left=iter(range(100)))

    def make(self) -> Batches:
        batches = Batches()
        batches._original = lambda iterator: next(iterator.left)  # noqa: SLF001 - a loader without a loader
        return batches

    def test_what_was_handed_out_since_comes_again(self) -> None:
        batches, loader = self.make(), self.iterator("a")
        handed = [batches._next(loader) for _ in range(3)]  # noqa: SLF001 - as the loader calls it
        batches.hand_out_again(1)
        assert (handed, [batches._next(loader) for _ in range(3)]) == ([0, 1, 2], [1, 2, 3])  # noqa: SLF001 - same

    def test_another_loader_gets_nothing_of_it(self) -> None:
        batches, loader, other = self.make(), self.iterator("a"), self.iterator("b")
        batches._next(loader)  # noqa: SLF001 - as the loader calls it
        batches.hand_out_again(0)
        assert [batches._next(other), batches._next(loader)] == [0, 0]  # noqa: SLF001 - same


def nothing(*_: object) -> None:
    """A hook."""


class TestFollowedModels:
    def test_they_are_saved_and_copied_without_our_hooks(self) -> None:
        model = torch.nn.Sequential(torch.nn.Linear(2, 2))
        plain = pickle.dumps(model)
        follow_calls(model, nothing, nothing)
        assert pickle.dumps(model) == plain
        assert not copy.deepcopy(model)._forward_hooks  # noqa: SLF001 - where torch keeps them
        assert len(model._forward_hooks) == 1  # noqa: SLF001 - same

    def test_who_had_hooked_one_before_can_take_the_hook_away(self) -> None:
        model = torch.nn.Linear(2, 2)
        own = model.register_forward_hook(nothing)
        handles = follow_calls(model, nothing, nothing)
        own.remove()
        assert list(model._forward_hooks) == [handles[1].id]  # noqa: SLF001 - same


class TestRepros:
    def test_inputs_are_cut_down_while_it_fails(self) -> None:
        values = torch.ones(64, 8)
        values[37, 3] = 0
        call = Call(torch.ops.aten.log.default, (values,), {})
        small = shrink(call, lambda each: bool(torch.isinf(each.function(*each.arguments)).any()))
        assert small.arguments[0].tolist() == [[0.0]]

    @pytest.mark.parametrize(
        "value",
        [
            torch.tensor([1.5, -INF, INF, 0.1]),
            torch.tensor(INF),
            torch.randn(10, 10),
            torch.randn(100).to(torch.bfloat16),
            torch.tensor([[True, False]]),
            torch.zeros(0, 3),
        ],
        ids=["infinities", "a scalar", "packed", "bfloat16", "a mask", "empty"],
    )
    def test_a_tensor_is_written_as_it_is(self, value: Any) -> None:
        import base64  # noqa: PLC0415 - what the script itself imports
        import zlib  # noqa: PLC0415 - same

        def unpacked(text: str, dtype: Any, shape: tuple[int, ...]) -> Any:
            return torch.frombuffer(bytearray(zlib.decompress(base64.b85decode(text))), dtype=dtype).reshape(shape)

        again = eval(literal(value), {"torch": torch, "unpacked": unpacked})  # noqa: S307 - our own text
        assert (again.dtype, again.shape, torch.equal(again, value)) == (value.dtype, value.shape, True)


def test_a_diagnosis_survives_its_json() -> None:
    diagnosis = Diagnosis("operation", 3, "the loss is NaN", places=(Place("a.py", 1, "f"),))
    diagnosis.inputs = (stats_of("x", torch.ones(2)),)
    diagnosis.chain = (Link("log", is_backward=False, place=Place("a.py", 1, "f"), what="-inf"),)
    diagnosis.history = (Reading(1, 0.5, 1.0, 0.1),)
    assert Diagnosis.from_json(diagnosis.to_json()) == diagnosis


def test_every_cause_has_rules_that_exist() -> None:
    from nanlint.engine.rules.rulebook import rulebook  # noqa: PLC0415 - for this test only
    from nanlint.trace import advice, reasons  # noqa: PLC0415 - same

    causes = {value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)}
    codes = {code for each in advice.OF_CAUSE.values() for code in each}
    assert (causes, codes - set(rulebook().rules)) == (set(advice.OF_CAUSE), set())


@pytest.mark.parametrize(
    ("inner", "operation"),
    [
        ("log_", "torch.log"),
        ("_softmax", "torch.softmax"),
        ("addmm", "torch.matmul"),
        ("linalg_vector_norm", "torch.linalg.vector_norm"),
        ("nll_loss_forward", "torch.nn.functional.nll_loss"),
        ("no_such_thing", ""),
    ],
)
def test_torch_s_own_names_are_those_of_the_op_table(inner: str, operation: str) -> None:
    from nanlint.trace.advice import operation_of  # noqa: PLC0415 - for this test only

    assert operation_of(inner) == operation
