"""The events of a training loop: zero_grad, backward, unscale_, clip, step, save, ...

What an event is and how it is told; which call is which event is the business of `loop_calls`, their order of `loop_paths`.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts import loop_edits
from nanlint.facts.context import ancestors, is_used
from nanlint.facts.names import dotted_text
from nanlint.facts.rewrite import on_one_line
from nanlint.facts.written import text_of
from nanlint.model import Edit, Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.facts.flow import Flow
    from nanlint.facts.values import Call


class EventKind(str, enum.Enum):
    """What happens."""

    ZERO_GRAD = "zero_grad"
    FORWARD = "forward"
    LOSS = "loss"
    SCALE = "scale"
    BACKWARD = "backward"
    UNSCALE = "unscale_"
    CLIP = "clip"
    CLEAR = "clear"
    """Gradients are set by hand: `p.grad.zero_()`, `p.grad = None`, `p.grad.nan_to_num_()`."""
    STEP = "step"
    UPDATE = "update"
    SCHEDULE = "schedule"
    SAVE = "save"
    AVERAGE = "average"
    REDUCE = "reduce"
    LOG = "log"
    OPAQUE = "opaque"
    """Code of another file that is given the scaler or the optimizer: nobody knows what it does with it."""


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One event. `target` is what it is done to, as the loop calls it: an optimizer, a loss, a path."""

    kind: EventKind
    node: cst.CSTNode
    flow: Flow
    target: str = ""
    by: str = ""
    """Who does it, if not torch itself: the text of a GradScaler, an Accelerator, a DeepSpeed engine; empty for torch."""
    is_scaled: bool = False
    """Of a backward: it starts from a scaled loss. Of a step: a GradScaler makes it, and skips one that is not finite."""
    is_framework: bool = False
    """Whether Accelerate, Lightning, Fabric or DeepSpeed does it, with their own care about scaling."""

    @property
    def call(self) -> Call | None:
        """The call that it is; None for an assignment."""
        return self.flow.calls.get(self.node)

    @property
    def chunk(self) -> str:
        """The qualified name of the function that it is written in."""
        return self.flow.parsed.chunk.qualname

    @property
    def span(self) -> Span:
        """Where it stands in the file."""
        return self.flow.parsed.span_of(self.node)

    @property
    def text(self) -> str:
        """How it is written, on one line."""
        source = self.flow.parsed.source_of(self.node)
        return " ".join((on_one_line(source) or source).split())

    @property
    def is_result_used(self) -> bool:
        """Whether anything is done with what it returns, as the norm of a clip."""
        return isinstance(self.node, cst.BaseExpression) and is_used(self.node, self.flow.parsed.parents, self.flow)

    @property
    def regions(self) -> tuple[Call, ...]:
        """The `with` statements around it, outermost first."""
        return self.flow.envs[self.node].regions if self.node in self.flow.envs else ()

    @property
    def stored_as(self) -> str:
        """The name that its result is assigned to; "" if it is assigned to none."""
        around = self.flow.parsed.parents.get(self.node)
        if isinstance(around, cst.Assign) and len(around.targets) == 1:
            return dotted_text(around.targets[0].target) or ""
        return ""

    def quote(self, longest: int = 40) -> str:
        """The text, short enough for a message."""
        return shortened(self.text, longest)

    @property
    def receiver(self) -> str:
        """What it is a method of, in the words of the function that it is written in; "" if it is none of anything."""
        node = self.node
        function = node.func if isinstance(node, cst.Call) else None
        return self.flow.parsed.source_of(function.value) if isinstance(function, cst.Attribute) else ""

    @property
    def is_bare(self) -> bool:
        """Whether it is a call without arguments."""
        return isinstance(self.node, cst.Call) and not self.node.args

    def mentions(self, *words: str) -> bool:
        """Whether one of these names or attributes occurs in the function that it is written in."""
        return not self.flow.parsed.chunk.words.isdisjoint(words)

    def first_argument(self) -> str:
        """The first argument, in the words of the function that it is written in; "" for none."""
        node = self.node
        given = node.args[0].value if isinstance(node, cst.Call) and node.args else None
        return self.flow.parsed.source_of(given) if isinstance(given, (cst.Name, cst.Attribute)) else ""

    def line_before(self, *lines: str) -> Edit | None:
        """Write statements on lines of their own above this one; None where this one shares its line."""
        return loop_edits.line_before(self.node, self.flow, *lines)

    def line_after(self, *lines: str) -> Edit | None:
        """Write statements on lines of their own below this one; None where this one shares its line."""
        return loop_edits.line_after(self.node, self.flow, *lines)

    def under_condition(self, condition: str) -> tuple[Edit, ...] | None:
        """Put it under `if condition:`; None where it shares its line, or has a string of several lines in it."""
        return loop_edits.under_condition(self.node, self.flow, condition)

    def rewritten(self, text: str) -> Edit:
        """Write something else in its place."""
        return Edit(self.span, text)

    def taken_out(self) -> Edit | None:
        """Delete it, but for a comment behind it; None where it shares its line or its block has nothing else."""
        return loop_edits.taken_out(self.node, self.flow)

    def moved_out(self) -> tuple[Edit, ...] | None:
        """Move it, and what follows it there, out of the `with` around it; None where that is not just a matter of indentation."""
        return loop_edits.moved_out(self.node, self.flow)

    @property
    def conditions(self) -> list[str]:
        """The texts of the conditions around it, in the function that it is written in."""
        return [
            text_of(around.test)
            for around in ancestors(self.node, self.flow.parsed.parents)
            if isinstance(around, cst.If)
        ]

    def keyword(self, name: str, text: str) -> Edit | None:
        """Give the call a further argument; None where it already has one of that name, or arguments nobody sees."""
        node = self.node
        if not isinstance(node, cst.Call) or not node.args or node.args[-1].star or node.args[-1].value.lpar:
            return None
        if any(arg.keyword is not None and arg.keyword.value == name for arg in node.args):
            return None
        return Edit(self.flow.parsed.span_of(node.args[-1].value).behind, f", {name}={text}")

    def argument(self, *names: str) -> cst.BaseExpression | None:
        """The argument under the first of these names that is given."""
        call = self.call
        given = call.arguments if call is not None else {}
        return next((given[name] for name in names if name in given), None)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """`text` with its first name replaced by what the caller calls it: `opt.step` -> `self.optimizer.step`."""
    match = re.match(r"\w+", text)
    return names[match[0]] + text[match.end() :] if match and match[0] in names else text


def shortened(text: str, longest: int) -> str:
    """`text`, cut where it is too long for a message."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
