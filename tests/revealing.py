"""What is known of an expression, asked by marking it: `reveal(x)` in a text that is never run."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, TypeVar

from nanlint.facts.module_facts import ModuleFacts
from nanlint.source.outline import MODULE, outline

if TYPE_CHECKING:
    from collections.abc import Callable

    import libcst as cst

T = TypeVar("T")

PREAMBLE = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def facts_about(text: str, chunk: str = "f", *, preamble: str = PREAMBLE) -> ModuleFacts:
    """The facts of a text, standing at one of its chunks."""
    whole = preamble + textwrap.dedent(text)
    facts = ModuleFacts(whole, outline(whole))
    facts.enter(chunk)
    return facts


def revealed(
    text: str, question: Callable[[ModuleFacts, cst.BaseExpression], T], chunk: str = "f", *, preamble: str = PREAMBLE
) -> list[T]:
    """The answer to `question` for the argument of each `reveal(...)` in a chunk, in order."""
    facts = facts_about(text, chunk, preamble=preamble)
    return [question(facts, call.arguments["0"]) for call in facts.calls_of("reveal")]


def origins(text: str, chunk: str = "f", *, preamble: str = PREAMBLE) -> list[str]:
    """The operations that each revealed expression comes from, joined by `|`; "unknown" where a path is unknown."""

    def of(facts: ModuleFacts, node: cst.BaseExpression) -> str:
        return "|".join(sorted({call.function for call in facts.origins_of(node)})) or "unknown"

    return revealed(text, of, chunk, preamble=preamble)


def constants(text: str, chunk: str = "f") -> list[float | None]:
    """The number that each revealed expression is."""
    return revealed(text, lambda facts, node: facts.constant_of(node), chunk)


__all__ = ["MODULE", "PREAMBLE", "constants", "facts_about", "origins", "revealed"]
