"""The events of a training loop: zero_grad, backward, unscale_, clip, step, save, ...

What an event is and how it is told; which call is which event is the business of `event_calls`, their order of `paths`.
"""

from __future__ import annotations

import ast
import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.analysis.project.syntax_names import dotted
from nanlint.analysis.training_loop.written import Written
from nanlint.model import Edit
from nanlint.ops.signatures import PARAMETERS
from nanlint.source.syntax.below import given_to

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    """Code that nobody can read is given the scaler or the optimizer: nobody knows what it does with it."""


@dataclass(frozen=True, slots=True, eq=False)
class Event(Written):
    """One event. `target` is what it is done to, as the loop calls it: an optimizer, a loss, a path."""

    kind: EventKind
    target: str = ""
    by: str = ""
    """Who does it, if not torch itself: the text of a GradScaler, an Accelerator, a DeepSpeed engine; empty for torch."""
    is_scaled: bool = False
    """Of a backward: it starts from a scaled loss. Of a step: a GradScaler makes it, and skips one that is not finite."""
    is_framework: bool = False
    """Whether Accelerate, Lightning, Fabric or DeepSpeed does it, with their own care about scaling."""
    may_be_off: bool = False
    """Of what is scaled, or a framework does: whether a setting decides if a step that is not finite is skipped."""

    @property
    def call(self) -> ast.Call | None:
        """The call that it is; None for an assignment."""
        return self.node if isinstance(self.node, ast.Call) else None

    @property
    def function(self) -> str:
        """The full name of what is called: `torch.save`; "" for an assignment."""
        return self.code.function_of(self.call) if self.call is not None else ""

    @property
    def is_statement(self) -> bool:
        """Whether nothing is done with what it returns: it stands for itself."""
        return isinstance(self.code.parents.get(self.node), ast.Expr)

    @property
    def empties(self) -> bool:
        """Whether gradients are None behind it, so that an optimizer leaves their parameters alone: `zero_grad()`, `p.grad = None`."""
        if self.kind is EventKind.CLEAR:
            return isinstance(self.node, ast.Assign) and getattr(self.node.value, "value", 0) is None
        kept = self.text_of("set_to_none") or (self.first_argument() if self.kind is EventKind.ZERO_GRAD else "")
        return self.kind is EventKind.ZERO_GRAD and kept in {"", "True"}

    @property
    def stored_as(self) -> str:
        """The name that its result is assigned to; "" if it is assigned to none."""
        around = self.code.parents.get(self.node)
        is_one = isinstance(around, ast.Assign) and len(around.targets) == 1
        return dotted(around.targets[0]) if isinstance(around, ast.Assign) and is_one else ""

    @property
    def autocast(self) -> str:
        """The half dtype that an autocast region around it computes in; empty outside of one."""
        return self.code.autocast_at(self.node)

    @property
    def is_right_under_autocast(self) -> bool:
        """Whether autocast is the innermost `with` around it."""
        inside = next((each for each in self.code.around(self.node) if isinstance(each, ast.With)), None)
        return inside is not None and bool(self.autocast) and not self.code.autocast_at(inside)

    @property
    def receiver(self) -> str:
        """What it is a method of, in the words of the function that it is written in; "" if it is none of anything."""
        function = self.call.func if self.call is not None else None
        return self.code.source.text_of(function.value) if isinstance(function, ast.Attribute) else ""

    @property
    def is_bare(self) -> bool:
        """Whether it is a call without arguments."""
        return self.call is not None and not self.call.args and not self.call.keywords

    def mentions(self, *words: str) -> bool:
        """Whether one of these names or attributes occurs in the function that it is written in."""
        return not self.code.words.isdisjoint(words)

    def first_argument(self) -> str:
        """The first argument, in the words of the function that it is written in; "" for none, or one that is no plain name."""
        given = first_of(self.call) if self.call is not None else None
        return self.code.source.text_of(given) if isinstance(given, ast.Name | ast.Attribute) else ""

    def argument(self, name: str) -> ast.expr | None:
        """The argument for a parameter, by its name or its place in the op table; None if it is not given."""
        if self.call is None:
            return None
        named = next((each.value for each in self.call.keywords if each.arg == name), None)
        declared = [each.name for each in PARAMETERS.get(self.function, ())] or _PLACES.get(self.function, [])
        place = declared.index(name) if name in declared else len(self.call.args)
        return named if named is not None or place >= len(self.call.args) else self.call.args[place]

    def text_of(self, name: str) -> str:
        """The text of an argument; "" if it is not given."""
        given = self.argument(name)
        return self.code.source.text_of(given) if given is not None else ""

    def keyword(self, name: str, text: str) -> Edit | None:
        """Give the call a further argument; None where it already has one of that name, or arguments nobody sees."""
        if self.call is None or self.is_elsewhere:
            return None
        named = {each.arg for each in self.call.keywords}
        given = given_to(self.call)
        if not given or named & {name, None} or any(isinstance(each, ast.Starred) for each in given):
            return None
        last = max(given, key=lambda each: (each.end_lineno or 0, each.end_col_offset or 0))
        if isinstance(last, ast.GeneratorExp) or self.code.source.is_bracketed(last):
            return None
        return Edit(self.code.source.span_of(last).behind, f", {name}={text}")

    @property
    def conditions(self) -> list[str]:
        """The texts of the conditions around it, in the function that it is written in."""
        return [self.code.text_of(each.test) for each in self.code.around(self.node) if isinstance(each, ast.If)]


_PLACES = {"torch.save": ["obj", "f"]}


def first_of(call: ast.Call) -> ast.expr | None:
    """The first argument, whatever it is called; None for none, or where stars hide which it is."""
    given = [*call.args, *(each.value for each in call.keywords if each.arg is not None)]
    return given[0] if given and not isinstance(given[0], ast.Starred) else None


def renamed(text: str, names: Mapping[str, str]) -> str:
    """`text` with its first name replaced by what the caller calls it: `opt.step` -> `self.optimizer.step`."""
    match = re.match(r"\w+", text)
    return names[match[0]] + text[match.end() :] if match and match[0] in names else text
