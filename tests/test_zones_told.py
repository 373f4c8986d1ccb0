"""Every danger zone of the op table has a rule that tells of it, or a reason here why none does."""

from __future__ import annotations

from nanlint.engine.rules.rulebook import rulebook
from nanlint.ops.tables.zones import ZONES

# Operation -> why no rule tells of its zones.
NOT_TOLD = {
    "torch.atan2": "its zone is a ring below 1e-19, where squares underflow; at 0 itself the gradient is 0",
    "torch.floor_divide": "it is for indices, and has no gradient",
    "torch.fmod": "the second operand is a period, a number that somebody sets",
    "torch.remainder": "the second operand is a period, a number that somebody sets",
    "torch.igamma": "only a negative argument breaks it, which the integral does not have",
    "torch.ldexp": "the exponent is an integer that somebody sets",
    "torch.logaddexp": "both operands have to be -inf, which NAN303 and NAN107 tell of where it is made",
    "torch.nn.functional.gelu": "its zone ends at the end of the format",
    "torch.nn.functional.hardswish": "its zone ends at the end of the format",
    "torch.selu": "its zone ends at the end of the format",
    "torch.rad2deg": "its zone ends at the end of the format",
    "torch.sinc": "its zone begins at 1e38",
    "torch.nn.functional.soft_margin_loss": "a margin of -88 is a run that has diverged already",
    "torch.nn.functional.softmin": "a row of +inf has to be made first",
    "torch.special.bessel_y0": "no training code was seen to use it",
    "torch.special.bessel_y1": "no training code was seen to use it",
    "torch.special.entr": "only a negative probability breaks it",
    "torch.special.erfcx": "no training code was seen to use it",
    "torch.special.log_ndtr": "its zone begins at -1e19",
    "torch.special.ndtri": "it has no gradient at the ends, and 0 and 1 are meant to be infinite",
    "torch.special.xlog1py": "who writes it has thought of the end",
    "torch.xlogy": "it is the cure of NAN111",
}


def test_every_danger_zone_is_told_of_or_has_a_reason() -> None:
    watched = {each.operation for rule in rulebook().rules.values() for each in rule.hazards}
    zoned = {line.split()[0] for line in ZONES.strip().splitlines()}
    assert zoned - watched == set(NOT_TOLD)
