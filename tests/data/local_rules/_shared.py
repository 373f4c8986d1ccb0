"""What the rules beside this file share: it begins with an underscore and holds no rule."""

from __future__ import annotations

from nanlint.rule import Applicability, Call, Edit, Facts, Fix


def other_function(call: Call, facts: Facts, name: str, applicability: Applicability) -> Fix:
    """The fix that calls `name` instead."""
    assert call.subject is not None
    edit = Edit(facts.span_of(call.node), f"{name}({facts.source_of(call.subject)})")
    return Fix(f"Call `{name}`", applicability, (edit,))
