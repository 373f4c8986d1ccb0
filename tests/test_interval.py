"""The laws of the range lattice, and the soundness of float arithmetic on it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.ops.arithmetic import (
    absolute,
    add,
    clamp,
    div,
    fmax,
    fmin,
    maximum,
    minimum,
    mul,
    neg,
    rounded,
    square,
    sub,
)
from nanlint.ops.curves import Curve, power
from nanlint.ops.formats import FLOAT16, FLOAT32, FORMATS, Format
from nanlint.ops.interval import (
    ANYTHING,
    COUNT,
    EMPTY,
    EVERYTHING,
    FINITE,
    INF,
    NAN,
    NONNEGATIVE,
    POSITIVE,
    SIGNED_UNIT,
    TRUTH,
    UNIT,
    Interval,
    point,
)
from nanlint.ops.transfers.aggregates import average, product, total

if TYPE_CHECKING:
    from collections.abc import Callable

LANDMARKS = [0.0, 1.0, -1.0, 0.5, 2.0, 1e-12, 1e-45, -1e-45, 65504.0, -65504.0, 3.4e38, 1e-8, 88.8, 256.0, INF, -INF]
VALUES = st.sampled_from(LANDMARKS) | st.integers(-100, 100).map(float) | st.floats(allow_nan=False)
BITS = st.booleans()
EACH_FORMAT = st.sampled_from(sorted(FORMATS.values(), key=lambda form: form.digits))


class Sample(NamedTuple):
    """An interval, and one of its values."""

    interval: Interval
    value: float


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    low, high = sorted((draw(VALUES), draw(VALUES)))
    flags = {name: draw(BITS) for name in ("minus_inf", "plus_inf", "nan", "nonzero", "integer")}
    return draw(st.sampled_from([Interval(low, high, **flags), EMPTY, NAN, FINITE, UNIT, EVERYTHING]))


def sample_of(draw: st.DrawFn, form: Format) -> Sample:
    value = form.round(draw(VALUES)) + 0.0  # -0 counts as 0
    ends = [draw(VALUES), draw(VALUES)] if math.isinf(value) else [value, draw(VALUES)]
    interval = Interval(
        min(ends),
        max(ends),
        minus_inf=value == -INF or draw(BITS),
        plus_inf=value == INF or draw(BITS),
        nan=draw(BITS),
        nonzero=value != 0 and draw(BITS),
        integer=math.isfinite(value) and value == math.floor(value) and draw(BITS),
    )
    return Sample(interval, draw(st.sampled_from([value, math.nan])) if interval.nan else value)


@st.composite
def one(draw: st.DrawFn) -> tuple[Format, Sample]:
    form = draw(EACH_FORMAT)
    return form, sample_of(draw, form)


@st.composite
def two(draw: st.DrawFn) -> tuple[Format, Sample, Sample]:
    form = draw(EACH_FORMAT)
    return form, sample_of(draw, form), sample_of(draw, form)


@st.composite
def several(draw: st.DrawFn) -> tuple[Interval, list[float]]:
    """An interval of moderate values, and some of them, at least one."""
    values = draw(
        st.lists(st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 1e-8]) | st.floats(-50, 50), min_size=1, max_size=9)
    )
    values = [FLOAT32.round(value) + 0.0 for value in values]
    low, high = min(values), max(values)
    nonzero = 0.0 not in values and draw(BITS)
    integer = all(value == math.floor(value) for value in values) and draw(BITS)
    wider = draw(st.floats(0, 2))
    return Interval(low - wider if draw(BITS) else low, high + wider, nonzero=nonzero, integer=integer), values


def ieee_div(x: float, y: float) -> float:
    if y != 0:
        return x / y
    return math.nan if x == 0 or math.isnan(x) else math.copysign(INF, x)


def ieee_max(x: float, y: float) -> float:
    return math.nan if math.isnan(x) or math.isnan(y) else max(x, y)


def ieee_pow(x: float, y: float) -> float:
    try:
        result = x**y
    except OverflowError:
        return INF if x > 0 or y % 2 == 0 else -INF
    except ZeroDivisionError:
        return INF
    return math.nan if isinstance(result, complex) else result


# The lattice


@given(a=intervals(), b=intervals(), c=intervals())
def test_join_is_a_least_upper_bound(a: Interval, b: Interval, c: Interval) -> None:
    joined = a.join(b)
    assert joined == b.join(a)
    assert joined.join(c) == a.join(b.join(c))
    assert a.is_subset(joined)
    assert b.is_subset(joined)
    assert joined.is_subset(c) == (a.is_subset(c) and b.is_subset(c))


@given(a=intervals(), b=intervals(), c=intervals())
def test_meet_is_a_greatest_lower_bound(a: Interval, b: Interval, c: Interval) -> None:
    met = a.meet(b)
    assert met == b.meet(a)
    assert met.meet(c) == a.meet(b.meet(c))
    assert met.is_subset(a)
    assert a.join(met) == a
    assert a.meet(a.join(b)) == a


@given(a=intervals())
def test_every_interval_lies_between_empty_and_everything(a: Interval) -> None:
    assert EMPTY.is_subset(a)
    assert a.is_subset(EVERYTHING)
    assert a.join(a) == a.meet(a) == a


@given(pair=two())
def test_a_value_is_in_the_join_and_in_the_meet_of_what_holds_it(pair: tuple[Format, Sample, Sample]) -> None:
    _, a, b = pair
    assert a.interval.join(b.interval).contains(a.value)
    assert a.interval.meet(b.interval).contains(a.value) == b.interval.contains(a.value)


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (UNIT, "[0, 1]"),
        (ANYTHING, "(-inf, inf) or nan"),
        (EVERYTHING, "[-inf, inf] or nan"),
        (Interval(1e-12, INF), "[1e-12, inf)"),
        (Interval(0.0, INF, plus_inf=True), "[0, inf]"),
        (Interval(-5.0, 5.0, minus_inf=True), "[-5, 5] or -inf"),
        (POSITIVE, "(0, inf)"),
        (FINITE.without_zero(), "(-inf, inf) except 0"),
        (COUNT.without_zero(), "[1, inf)"),
        (Interval(-1.0, -0.0), "[-1, 0]"),
        (point(INF), "inf"),
        (NAN, "nan"),
        (EMPTY, "empty"),
        (point(88.72283935546875), "[88.7228, 88.7228]"),
    ],
    ids=str,
)
def test_an_interval_prints_as_a_reader_writes_it(interval: Interval, text: str) -> None:
    assert str(interval) == text


def test_one_set_has_one_form() -> None:
    assert Interval(0.5, 1.5, integer=True) == point(1.0)
    assert Interval(0.0, 0.0, nonzero=True) == EMPTY
    assert Interval(2.0, 1.0, nan=True) == NAN
    assert TRUTH.without_zero() == point(1.0)
    assert Interval(1.0, 2.0, nonzero=True) == Interval(1.0, 2.0)


def test_an_unknown_value_contains_zero_and_nan_and_admits_infinity() -> None:
    assert ANYTHING.contains(0.0)
    assert ANYTHING.contains(math.nan)
    assert not ANYTHING.contains(INF)
    assert ANYTHING.admits(INF)


def test_parts_of_an_interval() -> None:
    masked = Interval(-5.0, 5.0, minus_inf=True, nan=True)
    assert masked.without_nan() == Interval(-5.0, 5.0, minus_inf=True)
    assert masked.finite() == Interval(-5.0, 5.0)
    assert (masked.least, masked.greatest, masked.constant, point(2.0).constant) == (-INF, 5.0, None, 2.0)
    assert not masked.is_finite
    assert masked.meets(point(-INF))
    assert not masked.meets(point(INF))


# Arithmetic

BINARY: dict[str, tuple[Callable[[Format, Interval, Interval], Interval], Callable[[float, float], float]]] = {
    "add": (add, lambda x, y: x + y),
    "sub": (sub, lambda x, y: x - y),
    "mul": (mul, lambda x, y: x * y),
    "div": (div, ieee_div),
    "maximum": (lambda _, a, b: maximum(a, b), ieee_max),
    "minimum": (lambda _, a, b: minimum(a, b), lambda x, y: -ieee_max(-x, -y)),
    "fmax": (lambda _, a, b: fmax(a, b), lambda x, y: y if math.isnan(x) else x if math.isnan(y) else max(x, y)),
    "fmin": (lambda _, a, b: fmin(a, b), lambda x, y: y if math.isnan(x) else x if math.isnan(y) else min(x, y)),
    "clamp_min": (lambda form, a, b: clamp(form, a, b, None), ieee_max),
    "clamp_max": (lambda form, a, b: clamp(form, a, None, b), lambda x, y: -ieee_max(-x, -y)),
    "clamp": (lambda form, a, b: clamp(form, a, b, b), lambda x, y: math.nan if math.isnan(x) else y),
}


@pytest.mark.parametrize("name", BINARY)
@given(pair=two())
def test_binary_arithmetic_admits_what_floats_give(name: str, pair: tuple[Format, Sample, Sample]) -> None:
    form, a, b = pair
    lifted, exact = BINARY[name]
    assert lifted(form, a.interval, b.interval).admits(form.round(exact(a.value, b.value)))


def guarded(function: Callable[[float], float], at_edge: float = math.nan) -> Callable[[float], float]:
    """`function`, with its limits where math raises."""

    def value(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return INF
        except ValueError:
            return at_edge

    return value


EXP = Curve(guarded(math.exp), image=NONNEGATIVE, overflows=True)
LOG = Curve(guarded(math.log, -INF), domain=NONNEGATIVE)
SQRT = Curve(math.sqrt, domain=NONNEGATIVE, image=NONNEGATIVE, exact=True)
TANH = Curve(math.tanh, image=SIGNED_UNIT)
RSQRT = Curve(lambda x: ieee_div(1.0, math.sqrt(x)), domain=NONNEGATIVE, image=NONNEGATIVE, falling=True)

UNARY: dict[str, tuple[Callable[[Format, Interval], Interval], Callable[[float], float]]] = {
    "neg": (lambda _, a: neg(a), lambda x: -x),
    "absolute": (lambda _, a: absolute(a), abs),
    "rounded": (rounded, lambda x: x),
    "square": (square, lambda x: x * x),
    "exp": (EXP.apply, EXP.value),
    "log": (LOG.apply, lambda x: math.nan if x < 0 else LOG.value(x)),
    "sqrt": (SQRT.apply, lambda x: math.nan if x < 0 else math.sqrt(x)),
    "rsqrt": (RSQRT.apply, lambda x: math.nan if x < 0 else RSQRT.value(x)),
    "tanh": (TANH.apply, math.tanh),
}


@pytest.mark.parametrize("name", UNARY)
@given(sample=one())
def test_unary_arithmetic_admits_what_floats_give(name: str, sample: tuple[Format, Sample]) -> None:
    form, a = sample
    lifted, exact = UNARY[name]
    assert lifted(form, a.interval).admits(form.round(exact(a.value)))


@given(
    sample=one(), exponent=st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.5, 1.5, 0.1, -1.0, -2.0, -3.0, -0.5, -1.5])
)
def test_powers_admit_what_floats_give(sample: tuple[Format, Sample], exponent: float) -> None:
    form, a = sample
    if a.value == -INF and exponent != math.floor(exponent):
        return  # C's pow and torch's sqrt disagree about it
    assert power(form, a.interval, exponent).admits(form.round(ieee_pow(a.value, exponent)))


@given(sample=several(), empty=BITS)
def test_sums_means_and_products_admit_what_floats_give(sample: tuple[Interval, list[float]], empty: bool) -> None:  # noqa: FBT001 - drawn
    interval, values = sample
    added, multiplied = 0.0, 1.0
    for value in values:
        added, multiplied = FLOAT32.round(added + value), FLOAT32.round(multiplied * value)
    assert total(interval, empty=empty).contains(added)
    assert average(FLOAT32, interval, empty=empty).contains(FLOAT32.round(added / len(values)))
    assert product(interval, empty=empty).contains(multiplied)


def test_of_nothing_the_sum_is_0_the_product_1_and_the_mean_nan() -> None:
    assert total(Interval(2.0, 3.0)).contains(0.0)
    assert product(Interval(2.0, 3.0)).contains(1.0)
    assert average(FLOAT32, Interval(2.0, 3.0)).contains(math.nan)
    assert not total(Interval(2.0, 3.0), empty=False).contains(0.0)
    assert not average(FLOAT32, Interval(2.0, 3.0), empty=False).contains(math.nan)


# What people rely on, each in a line


@pytest.mark.parametrize(
    ("result", "text"),
    [
        pytest.param(EXP.apply(FLOAT32, FINITE), "[0, inf]", id="exp reaches 0 and inf"),
        pytest.param(EXP.apply(FLOAT32, Interval(-INF, 0.0)), "[0, 1]", id="exp of x - max stays under 1"),
        pytest.param(EXP.apply(FLOAT16, Interval(0.0, 12.0)), "[1, inf]", id="exp overflows half at 12"),
        pytest.param(LOG.apply(FLOAT32, UNIT), "[-inf, 0]", id="log of a probability reaches -inf"),
        pytest.param(LOG.apply(FLOAT32, FINITE), "[-inf, inf) or nan", id="log of anything finite"),
        pytest.param(sub(FLOAT32, point(1.0), point(1e-8)), "[1, 1]", id="1 - 1e-8 is 1 in float32"),
        pytest.param(sub(FLOAT32, point(1.0), UNIT), "[0, 1]", id="1 - p"),
        pytest.param(add(FLOAT32, NONNEGATIVE, point(1e-8)), "[1e-08, inf)", id="an eps on a nonnegative value"),
        pytest.param(add(FLOAT16, NONNEGATIVE, point(1e-8)), "[0, inf)", id="that eps in half"),
        pytest.param(add(FLOAT32, NONNEGATIVE, POSITIVE), "(0, inf)", id="a guarded value and a nonnegative one"),
        pytest.param(add(FLOAT32, FINITE, point(1e-8)), "(-inf, inf)", id="an eps on a signed value"),
        pytest.param(clamp(FLOAT16, FINITE, point(1e-8), None), "[0, inf)", id="a vanishing clamp"),
        pytest.param(clamp(FLOAT32, ANYTHING, point(1e-12), None), "[1e-12, inf) or nan", id="clamp passes nan"),
        pytest.param(div(FLOAT32, point(1.0), NONNEGATIVE), "(0, inf]", id="1 / x of x >= 0"),
        pytest.param(div(FLOAT32, FINITE, COUNT), "[-inf, inf] or nan", id="a sum over a count that can be 0"),
        pytest.param(div(FLOAT32, FINITE, COUNT.without_zero()), "(-inf, inf)", id="over a count that cannot"),
        pytest.param(div(FLOAT32, NONNEGATIVE, POSITIVE), "[0, inf)", id="over a guarded value"),
        pytest.param(mul(FLOAT32, point(INF), TRUTH), "inf or nan", id="a mask does not remove inf"),
        pytest.param(mul(FLOAT16, Interval(0.0, 40000.0), point(2.0)), "[0, inf]", id="half overflows at 65504"),
        pytest.param(sub(FLOAT32, point(INF), point(INF)), "nan", id="inf - inf"),
        pytest.param(square(FLOAT32, FINITE), "[0, inf)", id="a square"),
        pytest.param(square(FLOAT16, Interval(0.0, 256.0)), "[0, inf]", id="256 squared in half"),
        pytest.param(total(square(FLOAT32, FINITE)), "[0, inf)", id="a sum of squares"),
        pytest.param(total(TRUTH), "[0, inf)", id="a mask's sum"),
        pytest.param(maximum(total(TRUTH), point(1.0)), "[1, inf)", id="max(n, 1)"),
        pytest.param(power(FLOAT32, FINITE, 0.5), "[0, inf) or nan", id="a root of a negative"),
        pytest.param(power(FLOAT32, FINITE, -0.5), "[0, inf] or nan", id="rsqrt by power"),
        pytest.param(add(FLOAT32, point(1.0), square(FLOAT32, FINITE)), "[1, inf)", id="1 + x**2"),
        pytest.param(rounded(FLOAT16, point(-1e9)), "-inf", id="-1e9 in half"),
        pytest.param(add(FLOAT32, point(-3.4e38), point(-3.4e38)), "-inf", id="finfo.min added twice"),
    ],
)
def test_arithmetic_on_ranges(result: Interval, text: str) -> None:
    assert str(result) == text
