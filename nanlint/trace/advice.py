"""From the operation that broke, and why, to the rule that is about it.

Which rules are about an operation is read from the rules themselves, who name operations as the op table does; which of them is
about the cause is the table below. So advice is about what happened, wherever the linter has a finding or none.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from nanlint.trace import reasons

if TYPE_CHECKING:
    from nanlint.trace.diagnosis import Diagnosis, Link

HALF = "float16"
OF_CAUSE: dict[str, tuple[str, ...]] = {
    reasons.ZERO_DIVISOR: ("NAN101", "NAN103", "NAN203", "NAN204", "NAN208", "NAN210", "NAN211", "NAN302"),
    reasons.LOG_OF_ZERO: ("NAN102", "NAN110", "NAN111", "NAN112", "NAN203", "NAN302", "NAN303"),
    reasons.LOG_OF_NEGATIVE: ("NAN102", "NAN112", "NAN210"),
    reasons.ROOT_OF_NEGATIVE: ("NAN103", "NAN210"),
    reasons.ROOT_OF_ZERO: ("NAN301", "NAN204", "NAN211", "NAN302"),
    reasons.OUTSIDE_DOMAIN: ("NAN104", "NAN203", "NAN302"),
    reasons.NEGATIVE_BASE: ("NAN105", "NAN103", "NAN210"),
    reasons.ONE_VALUE: ("NAN106",),
    reasons.NOTHING: ("NAN106", "NAN108"),
    reasons.MASKED_ROW: ("NAN107", "NAN205"),
    reasons.EXP_OVERFLOW: ("NAN201", "NAN202", "NAN208"),
    reasons.OVERFLOW: ("NAN207", "NAN205", "NAN208"),
    reasons.INF_TIMES_ZERO: ("NAN303", "NAN111", "NAN202"),
    reasons.INF_MINUS_INF: ("NAN303", "NAN202"),
    reasons.DECOMPOSITION: ("NAN304",),
    reasons.OPTIMIZER_EPS: ("NAN209",),
}
"""The rules that tell of a cause, the most general first."""
CARRIED = frozenset({"NAN110", "NAN111", "NAN202", "NAN302", "NAN303"})
"""Rules that mark another operation than the one that breaks first: what becomes of its result."""
ALSO = {
    "_softmax": "torch.softmax",
    "_safe_softmax": "torch.softmax",
    "_log_softmax": "torch.log_softmax",
    "nll_loss_forward": "torch.nn.functional.nll_loss",
    "nll_loss2d_forward": "torch.nn.functional.nll_loss",
    "linalg_vector_norm": "torch.linalg.vector_norm",
    "_linalg_svd": "torch.linalg.svd",
    "_linalg_eigh": "torch.linalg.eigh",
    "linalg_eig": "torch.linalg.eig",
    **dict.fromkeys(("mm", "addmm", "addmv", "mv", "dot", "convolution"), "torch.matmul"),
}
"""What torch calls inside, by the name of the op table."""


def operation_of(aten: str) -> str:
    """The op table's name for one of torch's own; empty if it has none."""
    from nanlint.ops.names import CANONICAL, FUNCTIONAL  # noqa: PLC0415 - at a failure only

    name = aten.rstrip("_")
    spellings = (ALSO.get(name, ""), f"torch.{name}", f"{FUNCTIONAL}{name}", f"torch.{name.replace('_', '.', 1)}")
    return next((CANONICAL[each] for each in spellings if each in CANONICAL), ALSO.get(name, ""))


@cache
def rules_about(operation: str) -> frozenset[str]:
    """The codes of the rules that look at an operation of the op table."""
    from nanlint.engine.rules.rulebook import rulebook  # noqa: PLC0415 - at a failure only

    return frozenset(code for code, rule in rulebook().rules.items() if operation in rule.operations())


def codes_for(diagnosis: Diagnosis) -> tuple[str, ...]:
    """The rules that tell of this operation and cause, the most general first."""
    if diagnosis.cause == reasons.OPTIMIZER_EPS:
        return OF_CAUSE[diagnosis.cause]
    if diagnosis.cause == reasons.OVERFLOW and not _is_half(diagnosis):
        return ()
    about = rules_about(operation_of(diagnosis.operation))
    return tuple(code for code in OF_CAUSE.get(diagnosis.cause, ()) if code in about)


def carried_codes(diagnosis: Diagnosis, link: Link) -> frozenset[str]:
    """The rules that tell of this cause at an operation further on."""
    told = CARRIED.intersection(OF_CAUSE.get(diagnosis.cause, ()))
    return told & rules_about(operation_of(link.operation))


def _is_half(diagnosis: Diagnosis) -> bool:
    stats = [*diagnosis.inputs, *([diagnosis.output] if diagnosis.output else [])]
    return any(each.dtype == HALF for each in stats)
