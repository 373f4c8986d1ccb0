"""Attributes that a constructor copies from a parameter: known to be unknown without a look at it."""

from __future__ import annotations

import pytest

from nanlint.facts.constructors import copied_attributes
from nanlint.source.outline import outline


def copied(body: str, parameters: str = "self, config, size=3") -> set[str]:
    lines = body.replace("\n", "\n        ")
    plan = outline(f"class A:\n    def __init__({parameters}):\n        {lines}\nclass Own: pass\n")
    return set(copied_attributes(plan.chunks["A.__init__"], plan.classes))


@pytest.mark.parametrize("body", ["self.a = config.a", "self.a = config.text.a", "self.a: int = config.a"])
def test_what_is_taken_from_a_parameter_is_copied(body: str) -> None:
    assert copied(body) == {"a"}


@pytest.mark.parametrize(
    "body",
    [
        "self.a = size",
        "self.a = 1.0",
        "self.a = config.a\nself.a = 2.0",
        "self.a = config.a\nself.a += 1",
        "self.a, self.b = config.a, config.b",
        "config = make()\nself.a = config.a",
        "self.a = config.a + 1",
        "self.a = LIMITS.a",
        "self.a[0] = config.a",
    ],
)
def test_anything_else_may_be_known(body: str) -> None:
    assert "a" not in copied(body)


@pytest.mark.parametrize("annotation", ["Own", '"Own"', "Optional[Own]", 'Optional["Own"]'])
def test_a_parameter_of_a_class_of_this_file_may_be_known(annotation: str) -> None:
    assert copied("self.a = config.a", f"self, config: {annotation}") == set()
    assert copied("self.a = config.a", "self, config: Other") == {"a"}
