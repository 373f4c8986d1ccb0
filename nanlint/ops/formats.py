"""The four float formats, rounding to them, and which of them CUDA's autocast runs an operation in.

Rounding is torch's own: a Python number reaches a half type through float32. No numpy, no torch, no struct.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """A binary float format: `digits` bits of mantissa (the hidden one included) above 2**`lowest`, up to `max`."""

    name: str
    digits: int
    lowest: int
    max: float

    @property
    def min(self) -> float:
        """The most negative finite value, torch.finfo(dtype).min."""
        return -self.max

    @property
    def eps(self) -> float:
        """The step above 1."""
        return math.ldexp(1.0, 1 - self.digits)

    @property
    def tiny(self) -> float:
        """The smallest normal value, torch.finfo(dtype).tiny."""
        return math.ldexp(1.0, self.lowest + self.digits - 1)

    @property
    def smallest(self) -> float:
        """The smallest value above 0, a subnormal."""
        return math.ldexp(1.0, self.lowest)

    def round(self, value: float) -> float:
        """The value torch stores for the Python number `value`: to nearest, ties to even, past `max` to infinity."""
        if self.digits < FLOAT32.digits:
            value = FLOAT32.round_once(value)
        return self.round_once(value)

    def round_once(self, value: float) -> float:
        """The nearest value of this format, with no stop at float32 on the way."""
        if self is FLOAT64 or value == 0 or not math.isfinite(value):
            return value
        if abs(value) >= 2 * self.max:
            return math.copysign(math.inf, value)
        unit = self._unit(value)
        rounded = math.ldexp(round(math.ldexp(value, -unit)), unit)
        return math.copysign(math.inf, value) if abs(rounded) > self.max else rounded

    def above(self, value: float) -> float:
        """The smallest value of this format greater than `value`: what `x > value` leaves as the least x."""
        if self is FLOAT64 or not math.isfinite(value):
            return math.nextafter(value, math.inf)
        nearest = self.round_once(value)
        if nearest > value:
            return nearest
        if nearest == -math.inf:
            return self.min
        # Below a power of two the step is half as wide as above it.
        unit = self._unit(math.nextafter(nearest, math.inf)) if nearest else self.lowest
        return self.round_once(nearest + math.ldexp(1.0, unit))

    def below(self, value: float) -> float:
        """The greatest value of this format less than `value`."""
        return -self.above(-value)

    def holds(self, value: float) -> bool:
        """Whether `value` survives the rounding: neither 0 nor infinite unless it was."""
        rounded = self.round(value)
        return math.isfinite(rounded) == math.isfinite(value) and (rounded != 0 or value == 0)

    def _unit(self, value: float) -> int:
        """The exponent of the last mantissa bit of a value of this size."""
        return max(math.frexp(value)[1] - self.digits, self.lowest)


FLOAT16 = Format("float16", 11, -24, 65504.0)
BFLOAT16 = Format("bfloat16", 8, -133, math.ldexp(255.0, 120))
FLOAT32 = Format("float32", 24, -149, math.ldexp(2.0**24 - 1, 104))
FLOAT64 = Format("float64", 53, -1074, math.ldexp(2.0**53 - 1, 971))

FORMATS: dict[str, Format] = {form.name: form for form in (FLOAT16, BFLOAT16, FLOAT32, FLOAT64)}

DTYPES: dict[str, str] = {
    "half": "float16",
    "fp16": "float16",
    "16-true": "float16",
    "bf16": "bfloat16",
    "float": "float32",
    "fp32": "float32",
    "double": "float64",
    "fp64": "float64",
    **{name: name for name in FORMATS},
}
"""Every word for a float dtype to its torch name."""


_HALF = """
torch.addbmm torch.addmm torch.addmv torch.addr torch.baddbmm torch.bmm torch.chain_matmul torch.conv1d torch.conv2d
torch.conv3d torch.conv_transpose1d torch.conv_transpose2d torch.conv_transpose3d torch.einsum einops.einsum
torch.linalg.multi_dot torch.linalg.vecdot torch.matmul torch.matrix_power torch.mm torch.mv torch.nn.functional.linear
torch.nn.functional.scaled_dot_product_attention torch.prelu
"""
_FLOAT32 = """
torch.acos torch.asin torch.cdist torch.cosh torch.cosine_similarity torch.cumprod torch.cumsum torch.dist torch.erfinv
torch.exp torch.expm1 torch.linalg.matrix_norm torch.linalg.norm torch.linalg.vector_norm torch.log torch.log10
torch.log1p torch.log2 torch.log_softmax torch.logsumexp torch.nn.functional.binary_cross_entropy_with_logits
torch.nn.functional.cosine_embedding_loss torch.nn.functional.cross_entropy torch.nn.functional.gaussian_nll_loss
torch.nn.functional.group_norm torch.nn.functional.gumbel_softmax torch.nn.functional.hinge_embedding_loss
torch.nn.functional.huber_loss torch.nn.functional.interpolate torch.nn.functional.kl_div torch.nn.functional.l1_loss
torch.nn.functional.layer_norm torch.nn.functional.margin_ranking_loss torch.nn.functional.mse_loss
torch.nn.functional.multi_margin_loss torch.nn.functional.multilabel_margin_loss torch.nn.functional.nll_loss
torch.nn.functional.normalize torch.nn.functional.poisson_nll_loss torch.nn.functional.rms_norm
torch.nn.functional.smooth_l1_loss torch.nn.functional.soft_margin_loss torch.nn.functional.softmin
torch.nn.functional.softplus torch.nn.functional.triplet_margin_loss
torch.nn.functional.triplet_margin_with_distance_loss torch.norm torch.nn.functional.multilabel_soft_margin_loss
torch.pairwise_distance torch.pdist torch.pow torch.prod torch.reciprocal torch.renorm torch.rsqrt torch.sinh
torch.softmax torch.square torch.sum torch.tan
"""
_PROMOTE = """
torch.addcdiv torch.addcmul torch.atan2 torch.bilinear torch.cross torch.dot torch.index_put
torch.nn.functional.grid_sample torch.scatter_add torch.tensordot torch.vdot
"""
_REFUSED = "torch.nn.functional.binary_cross_entropy"

HALF, SINGLE, PROMOTE, REFUSED = "half", "float32", "promote", "refused"

AUTOCAST: dict[str, str] = {
    **dict.fromkeys(_HALF.split(), HALF),
    **dict.fromkeys(_FLOAT32.split(), SINGLE),
    **dict.fromkeys(_PROMOTE.split(), PROMOTE),
    **dict.fromkeys(_REFUSED.split(), REFUSED),
}
"""What CUDA's autocast does with an operation: run it in half, in float32, in the widest type given, or refuse it.

An operation that is not here runs in the type of its arguments. `number / x` is `x.reciprocal() * number` to torch, so
it runs in float32; `x / y` is not here.
"""


def runs_in(operation: str, dtype: str, autocast: str | None) -> str:
    """The dtype `operation` computes in for arguments of `dtype`, inside a CUDA autocast region to `autocast`."""
    if autocast is None or dtype == FLOAT64.name:
        return dtype
    return {HALF: autocast, SINGLE: FLOAT32.name}.get(AUTOCAST.get(operation, ""), dtype)
