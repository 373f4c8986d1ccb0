"""The zones that hang on a constant of the call: the exponent of a power, the eps of a norm or of a logit.

Edges of powers are found by bisection over the values of the format, with torch's own order of rounding.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.ops.formats import FLOAT32, Format
from nanlint.ops.interval import EVERYTHING, INF, Interval, point
from nanlint.ops.signatures import PARAMETERS
from nanlint.ops.zone import BACKWARD, FORWARD, Zone
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nanlint.model import Direction
    from nanlint.ops.signatures import Constant

NEGATIVE = Interval(-INF, 0.0, nonzero=True)


def _zone(operation: str, form: Format, direction: Direction, result: str, *values: Interval) -> Zone:
    return Zone(operation, "input", direction, form.name, result, values)


def _number(constant: object) -> float | None:
    """The constant as a finite number; None if it is none."""
    try:
        number = float(constant) if isinstance(constant, int | float) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _power(operation: str, form: Format, constants: Mapping[str, object]) -> tuple[Zone, ...]:
    exponent = _number(constants.get("exponent"))
    if exponent is None:
        # The gradient of a tensor exponent is x**y * log(x), whatever y is.
        negative = _zone(operation, form, BACKWARD, "nan", NEGATIVE)
        return (replace(negative, gradient="exponent"),)
    return tuple(_power_zones(operation, form, exponent))


def _power_zones(operation: str, form: Format, exponent: float) -> Iterator[Zone]:
    if exponent in (0.0, 1.0):
        return
    curves: tuple[tuple[Direction, float, Callable[[float], float]], ...] = (
        (FORWARD, exponent, lambda x: _power_of(form, x, exponent)),
        (BACKWARD, exponent - 1, lambda x: form.round(exponent * _power_of(form, x, exponent - 1))),
    )
    whole = exponent == math.floor(exponent)
    for direction, growth, curve in curves:
        if not whole:
            yield _zone(operation, form, direction, "nan", NEGATIVE)
        if growth < 0:
            edge = _last_infinite(form, curve)
            yield _zone(operation, form, direction, "inf", Interval(-edge if whole else 0.0, edge))
        elif math.isinf(curve(form.max)):
            edge = _first_infinite(form, curve)
            sides = (Interval(-INF, -edge), Interval(edge, INF)) if whole else (Interval(edge, INF),)
            yield _zone(operation, form, direction, "inf", *sides)


def _power_of(form: Format, x: float, exponent: float) -> float:
    """`x ** exponent` as torch computes it: the exponent is rounded too, and cubes are products."""
    exponent = form.round(exponent)
    work = max(form, FLOAT32, key=lambda each: each.digits)
    square = work.round(x * x)
    try:
        if exponent == 3:
            return form.round(work.round(square * x))
        return form.round(1 / square if exponent == -2 else math.pow(x, exponent))
    except (OverflowError, ValueError, ZeroDivisionError):
        return INF


def _first_infinite(form: Format, curve: Callable[[float], float]) -> float:
    """The smallest positive value at which a growing curve is infinite, by bisection over the format."""
    low, high = form.smallest, form.max
    while (middle := _between(form, low, high)) not in (low, high):
        low, high = (low, middle) if math.isinf(curve(middle)) else (middle, high)
    return high


def _last_infinite(form: Format, curve: Callable[[float], float]) -> float:
    """The greatest value at which a falling curve is infinite; 0 if none above it is."""
    if not math.isinf(curve(form.smallest)):
        return 0.0
    low, high = form.smallest, form.max
    while (middle := _between(form, low, high)) not in (low, high):
        low, high = (middle, high) if math.isinf(curve(middle)) else (low, middle)
    return low


def _between(form: Format, low: float, high: float) -> float:
    """A value of the format about half way, in orders of magnitude; `high` when there is none between."""
    middle = form.round(math.sqrt(low) * math.sqrt(high))
    return middle if low < middle < high else form.above(low)


def _logit(operation: str, form: Format, constants: Mapping[str, object]) -> tuple[Zone, ...] | None:
    """With an eps the input is clamped to [eps, 1 - eps]: what is left is where those round to 0 and 1."""
    eps = _number(constants.get("eps"))
    if eps is None:
        return None
    ends = [Interval(-INF, 0.0)] if form.round(eps) == 0 else []
    ends += [Interval(1.0, INF)] if form.round(1 - eps) == 1 else []
    return (_zone(operation, form, FORWARD, "inf", *ends),) if ends else ()


def _poisson(operation: str, form: Format, constants: Mapping[str, object]) -> tuple[Zone, ...] | None:
    """Without log_input the loss is that of log(input + eps)."""
    if constants.get("log_input", True) is not False:
        return None
    eps = _number(constants.get("eps", default_of(operation, "eps")))
    edge = 0.0 if eps is None else -form.round(eps)
    return (_zone(operation, form, FORWARD, "nan", Interval(-INF, edge)),)


def _small_norm(operation: str, form: Format, constants: Mapping[str, object]) -> tuple[Zone, ...]:
    """A row of zeros is divided by its norm, which is 0 unless the eps survives the format."""
    eps = _number(constants.get("eps", default_of(operation, "eps")))
    kept = (form if operation in _EPS_IN_FORMAT else max(form, FLOAT32, key=lambda each: each.digits)).round
    if eps is None or kept(eps) != 0:
        return ()
    operands = ("input", "other") if operation == "torch.cosine_similarity" else ("input",)
    return tuple(
        Zone(operation, operand, direction, form.name, "nan", (point(0.0),), row=True)
        for operand in operands
        for direction in (FORWARD, BACKWARD)
    )


def _infinite_product(operation: str, form: Format, _: Mapping[str, object]) -> tuple[Zone, ...]:
    infinite, zero = (point(-INF), point(INF)), (point(0.0),)
    names = [parameter.name for parameter in PARAMETERS[operation][:2]]
    return tuple(
        Zone(operation, operand, FORWARD, form.name, "nan", infinite, partner=partner, partner_values=zero)
        for operand, partner in (names, names[::-1])
    )


def _infinite_sum(operation: str, form: Format, _: Mapping[str, object]) -> tuple[Zone, ...]:
    sign = -1 if operation == "torch.add" else 1
    return tuple(
        Zone(
            operation,
            "input",
            FORWARD,
            form.name,
            "nan",
            (point(infinity),),
            partner="other",
            partner_values=(point(sign * infinity),),
        )
        for infinity in (-INF, INF)
    )


def _of_any_matrix(*directions: Direction) -> Callable[[str, Format, Mapping[str, object]], tuple[Zone, ...]]:
    """Of vectors the gradient is divided by differences of singular values, and any determinant can be 0 or below: no range tells."""
    return lambda operation, form, _: tuple(
        _zone(operation, form, each, "nan", EVERYTHING) for each in directions if form.digits >= FLOAT32.digits
    )


def default_of(operation: str, name: str) -> Constant:
    """The default of a parameter of the operation."""
    return next((parameter.default for parameter in PARAMETERS[operation] if parameter.name == name), None)


# Their eps is rounded to the input's own format; the kernels of the other norms compute in float32 at least.
_EPS_IN_FORMAT = torch_names("nn.functional.normalize cosine_similarity")
COMPUTED: dict[str, Callable[[str, Format, Mapping[str, object]], tuple[Zone, ...] | None]] = {
    "torch.pow": _power,
    "torch.logit": _logit,
    "torch.nn.functional.poisson_nll_loss": _poisson,
    **dict.fromkeys(_EPS_IN_FORMAT, _small_norm),
    **dict.fromkeys(
        torch_names("nn.functional.layer_norm nn.functional.group_norm nn.functional.rms_norm"), _small_norm
    ),
    **dict.fromkeys(torch_names("mul matmul mm bmm"), _infinite_product),
    **dict.fromkeys(torch_names("add sub"), _infinite_sum),
    "torch.logdet": _of_any_matrix(FORWARD, BACKWARD),
    **dict.fromkeys(torch_names("svd linalg.svd linalg.eigh linalg.eig"), _of_any_matrix(BACKWARD)),
}
"""The operations whose zones are computed; None from one of them leaves the measured zones."""
DECIDING = ("exponent", "eps", "log_input")
"""The parameters whose constants decide about a computed zone."""
