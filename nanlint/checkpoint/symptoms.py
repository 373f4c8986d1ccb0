"""What is wrong with a tensor, judged from its statistics and from the others of its kind.

`error` is what breaks the run (a value that is not finite), `warning` what is likely to, `note` what is worth knowing.
What is normal is silent: -inf in an attention mask, a bias or a LoRA matrix that is still zero, an observer's initial inf.
"""

from __future__ import annotations

import math
import re
import statistics as averages
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.checkpoint.contents import Entry, Role
from nanlint.checkpoint.saved import contiguous

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.checkpoint.statistics import Statistics

FLOAT16_MAX = 65504.0
BFLOAT16_MAX = 3.3895313892515355e38
FLOAT32_MIN = -3.4028234663852886e38
LIMITS = {"float16": FLOAT16_MAX, "bfloat16": BFLOAT16_MAX}

ERROR, WARNING, NOTE = "error", "warning", "note"

# A parameter this many times larger than the median of its kind, and this large in itself, did not get there by training.
_EXPLODED_RATIO = 1e3
_EXPLODED_VALUE = 1e3
# Squares of gradients differ by far more than parameters do.
_EXPLODED_MOMENT = 1e8
_FEWEST_OF_A_KIND = 3
_MANY_SUBNORMALS = 0.1

# By the last word of a name: `attn.causal_mask` is a mask, `mask_decoder.weight` and `mask_token` are parameters.
_MASK = re.compile(r"(\w+_)?masks?|causal\w*|alibi\w*|tril|triu|masked_bias", re.IGNORECASE)
_STARTS_INFINITE = re.compile(r"best\w*|min_vals?|max_vals?|min|max|lowest|highest|monitor\w*|kth\w*", re.IGNORECASE)
_OBSERVER = re.compile(r"observer|activation_post_process|fake_quant", re.IGNORECASE)
_STARTS_ZERO = re.compile(
    r"bias|lora_(b|up)|lora.*\.up\.|zero|adaln|modulation|pos_?emb|position|cls_token|class_token|reg_?token|alpha|gamma|gate|scale|"
    r"temperature|norm|\.bn\d*\.|delta|offset|residual|last|final|out_proj|proj_out|to_out|prompt|prefix|adapter",
    re.IGNORECASE,
)
_SECOND_MOMENTS = frozenset(
    {"exp_avg_sq", "max_exp_avg_sq", "square_avg", "exp_avg_sq_row", "exp_avg_sq_col", "sum", "v"}
)


@dataclass(frozen=True)
class Symptom:
    """One thing that is wrong, and where."""

    level: str
    kind: str
    name: str
    message: str
    file: str = ""
    role: str = ""
    hint: str = ""
    """What can be done about it."""


@dataclass(frozen=True)
class Measured:
    """A tensor, its statistics, and the name a user knows it by."""

    entry: Entry
    statistics: Statistics
    name: str
    aliases: int = 0

    @property
    def last_word(self) -> str:
        """The last part of its name, or what the optimizer calls it."""
        return self.entry.slot or self.entry.name.rpartition(".")[2]

    @property
    def is_called_mask(self) -> bool:
        """Whether the name says that it is added to scores."""
        return _MASK.fullmatch(self.last_word) is not None

    @property
    def kind(self) -> tuple[object, ...]:
        """Equal for tensors that can be compared: the same job in another layer."""
        return (self.entry.role, self.last_word, len(self.entry.tensor.shape))

    def symptom(self, level: str, kind: str, message: str) -> Symptom:
        """Something about this tensor."""
        return Symptom(level, kind, self.name, message, self.entry.file, self.entry.role.value)


def symptoms_of(measured: Sequence[Measured], formats: Sequence[str], *, trained: bool) -> Iterator[Symptom]:
    """What is wrong with the tensors, in their order; `formats` are the half formats that the run uses."""
    kinds = _kinds(measured)
    for each in measured:
        yield from _not_finite(each)
        yield from _negative_square(each)
        yield from _beyond(each, formats)
        yield from _exploded(each, kinds[each.kind])
        yield from _dead(each, kinds[each.kind], trained=trained)
        yield from _subnormal(each)


@dataclass(frozen=True)
class _Kind:
    """What is usual among the tensors of a kind: how many are not all zero, and how large those are."""

    alive: int
    usual: float


def _kinds(measured: Sequence[Measured]) -> dict[tuple[object, ...], _Kind]:
    sizes: dict[tuple[object, ...], list[float]] = {}
    for each in measured:
        sizes.setdefault(each.kind, []).append(each.statistics.rms)
    alive = {kind: [size for size in some if size > 0] for kind, some in sizes.items()}
    return {kind: _Kind(len(some), averages.median(some) if some else 0.0) for kind, some in alive.items()}


def _not_finite(each: Measured) -> Iterator[Symptom]:
    found = each.statistics
    if not found.bad or _is_a_mask(each) or _is_not_begun(each):
        return
    if found.nans:
        yield each.symptom(ERROR, "nan", _told(each, found.nans, "NaN"))
    infinite = found.positive_infs + found.negative_infs
    if infinite:
        sign = "inf" if found.positive_infs else "-inf"
        both = f" ({found.negative_infs:,} of them -inf)" if found.positive_infs and found.negative_infs else ""
        yield each.symptom(ERROR, "inf", _told(each, infinite, sign) + both)


def _told(each: Measured, count: int, what: str) -> str:
    """`3 of 16 values are NaN, the first not finite at [0, 3]; the others lie in [-1, 2]`."""
    found, tensor = each.statistics, each.entry.tensor
    if count >= found.items:
        return f"every value is {what} ({found.items:,} of {tensor.dtype})"
    values = "real and imaginary parts" if tensor.dtype.startswith("complex") else "values"
    text = f"{count:,} of {found.items:,} {values} {'are' if count > 1 else 'is'} {what}"
    if found.first_bad is not None and tensor.stride == contiguous(tensor.shape) and tensor.shape:
        text += f", first at {_index(found.first_bad, tensor.shape)}"
    if found.low <= found.high:
        text += f"; the finite ones lie in [{found.low:.3g}, {found.high:.3g}]"
    return text


def _index(flat: int, shape: tuple[int, ...]) -> list[int]:
    place = []
    for size in reversed(shape):
        place.append(flat % size)
        flat //= size
    return place[::-1]


def _is_a_mask(each: Measured) -> bool:
    """-inf, and besides it nothing, or nothing but 0 and 1, or a name that says so: added to scores before a softmax."""
    found = each.statistics
    if found.nans or found.positive_infs or each.entry.role is Role.OPTIMIZER:
        return False
    return found.low == 0.0 == found.high or each.is_called_mask


def _is_not_begun(each: Measured) -> bool:
    """The best of nothing so far: a minimum that starts at inf."""
    found = each.statistics
    if found.nans or each.entry.role is Role.OPTIMIZER or found.bad != found.items:
        return False
    return bool(_STARTS_INFINITE.fullmatch(each.last_word) or _OBSERVER.search(each.entry.name))


def _negative_square(each: Measured) -> Iterator[Symptom]:
    """An average of squares below 0: its root is the NaN of the next step."""
    last = each.last_word
    squares = each.entry.role is Role.OPTIMIZER and last in _SECOND_MOMENTS - {"sum", "v"}
    if (squares or last == "running_var") and each.statistics.low < 0:
        yield each.symptom(
            ERROR,
            "negative-square",
            f"goes down to {each.statistics.low:.3g}; it is an average of squares, and its root is NaN",
        )


def _beyond(each: Measured, formats: Sequence[str]) -> Iterator[Symptom]:
    """Too large for the format that the run computes in; a mask's lowest number is meant to be."""
    if each.entry.role not in {Role.PARAMETER, Role.BUFFER, Role.EMA} or each.is_called_mask:
        return
    for name in formats:
        largest = each.statistics.largest
        if largest > LIMITS[name] and each.statistics.low > FLOAT32_MIN and not each.statistics.bad:
            yield each.symptom(
                WARNING,
                "beyond-format",
                f"reaches {largest:.3g}, which is inf in {name} (largest {LIMITS[name]:.5g}), and the run uses {name}",
            )


def _exploded(each: Measured, kind: _Kind) -> Iterator[Symptom]:
    moment = each.entry.role is Role.OPTIMIZER
    ratio, value = (_EXPLODED_MOMENT, _EXPLODED_MOMENT) if moment else (_EXPLODED_RATIO, _EXPLODED_VALUE)
    size, largest = each.statistics.rms, each.statistics.largest
    if largest < value or size < ratio * kind.usual or kind.alive <= _FEWEST_OF_A_KIND or each.statistics.bad:
        return
    if each.entry.slot != "step" and not each.is_called_mask:
        told = f"reaches {largest:.3g} (rms {size:.3g}); the median rms of the {kind.alive:,} of its kind is {kind.usual:.3g}"
        yield each.symptom(WARNING, "exploded", told)


def _dead(each: Measured, kind: _Kind, *, trained: bool) -> Iterator[Symptom]:
    """A matrix of zeros among matrices that are not, in a model that was trained."""
    if not each.statistics.is_zero or each.entry.role not in {Role.PARAMETER, Role.EMA}:
        return
    if len(each.entry.tensor.shape) < 2 or kind.alive < _FEWEST_OF_A_KIND or _STARTS_ZERO.search(each.entry.name):
        return
    told = f"all {each.statistics.items:,} values are 0; {kind.alive:,} others of its kind are not"
    yield each.symptom(WARNING if trained else NOTE, "dead", told)


def _subnormal(each: Measured) -> Iterator[Symptom]:
    share = each.statistics.subnormal_share
    if share >= _MANY_SUBNORMALS and each.entry.role in {Role.PARAMETER, Role.EMA} and not math.isnan(share):
        yield each.symptom(
            NOTE,
            "subnormal",
            f"about {share:.0%} of its values are subnormal in {each.entry.tensor.dtype}: slow on a CPU, 0 where subnormals are flushed",
        )
