"""What the rules beside this file share: it begins with an underscore and holds no rule."""

from __future__ import annotations

from nanlint.rule import Applicability, Edit, Fix, OpHazard


def other_function(hazard: OpHazard, name: str, applicability: Applicability) -> Fix:
    """The fix that calls `name` instead."""
    edit = Edit(hazard.span, f"{name}({hazard.operand.text})")
    return Fix(f"Call `{name}`", applicability, (edit,))
