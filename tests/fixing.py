"""One rule's fixes on a text, for the tests that look at what they write."""

from __future__ import annotations

import ast

from nanlint.engine.fixing.apply_fixes import Fixed, fix_text
from nanlint.model import Applicability
from nanlint.testing import findings_in


def parses(text: str) -> bool:
    """Whether it is Python."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def fixed(text: str, code: str) -> Fixed:
    """The text after all fixes of one rule."""
    return fix_text(
        text,
        lambda draft: findings_in(draft, code),
        lambda each: each.applicability is not Applicability.SHOW,
        parses=parses,
    )
