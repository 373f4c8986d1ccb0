"""Questions about what training code asks, replaces and resumes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.analysis.trained_by_name import is_building, is_loss, is_one_step
from nanlint.facts import resuming
from nanlint.facts.code_questions import CodeQuestions
from nanlint.facts.finite_checks import Check, check_of
from nanlint.facts.names import dotted_text
from nanlint.facts.rate_edits import rate_put_in_again

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.flow import Flow
    from nanlint.facts.values import Call
    from nanlint.model import Edit

_LOGGERS = frozenset(
    {"logger", "log", "logging", "wandb", "writer", "pbar", "tqdm", "warnings", "console", "tb", "metrics"}
)
_ASIDE = frozenset({"val", "valid", "validate", "validation", "eval", "evaluate", "evaluation", "test"})


class LoopQuestions(CodeQuestions):
    """One file, and the training that it does."""

    def check_of(self, test: cst.BaseExpression) -> Check | None:
        """The question about finiteness that a condition asks; None if it asks something else."""
        return check_of(test, self.here) if self.here is not None else None

    def is_building(self) -> bool:
        """Whether the function at hand builds or initialises something, by its name."""
        return is_building(self.function_name())

    def is_loss(self) -> bool:
        """Whether the function at hand or its class is called a loss."""
        return is_loss(self.outline.chunks[self._current])

    def speaks_of_loss(self) -> bool:
        """Whether the code at hand names a loss."""
        return any("loss" in word for word in self.outline.chunks[self._current].words)

    def is_logged(self, node: cst.CSTNode) -> bool:
        """Whether `node` is written out for somebody to read, there where it stands: `logger.info(a / b)`, `f"{a / b}"`."""
        return any(
            type(around) is cst.FormattedString or (type(around) is cst.Call and is_logging(around))
            for around in self.parents_of(node)
        )

    # -- resuming and saving ----------------------------------------------------------------------------------

    def training_role(self, node: cst.BaseExpression) -> str:
        """What an object is to a run: "scaler", "scheduler", "optimizer", or "other"."""
        return resuming.role_of(node, self.here) if self.here is not None else "other"

    def is_known_scheduler(self, node: cst.BaseExpression) -> bool:
        """Whether the file makes `node` as a scheduler of torch or transformers, whose state holds the rate."""
        here = self.here is not None and resuming.is_known_scheduler(node, self.here)
        return here or any(resuming.is_known_scheduler(node, flow) for flow in self._other_methods(node))

    def has_call_on(self, role: str, function: str) -> bool:
        """Whether the chunk at hand calls this method on an object with this role."""
        calls = self.here.calls.values() if self.here is not None else ()
        return any(
            call.function == function and call.receiver is not None and self.training_role(call.receiver) == role
            for call in calls
        )

    def configured_rate(self, node: cst.BaseExpression) -> resuming.Rate | None:
        """The learning rate that a config says for an optimizer or scheduler, where it is made; None if none is read there."""
        here = resuming.configured_rate(node, self.here) if self.here is not None else None
        others = (resuming.configured_rate(node, flow, of_parameters=True) for flow in self._other_methods(node))
        return here or next(filter(None, others), None)

    def mentions_on_the_way(self, *words: str) -> bool:
        """Whether one of these names or attributes occurs in the chunk at hand, or in a function of the file that it calls."""
        here = self.outline.chunks[self._current]
        called = (chunk for chunk in self.outline.chunks.values() if chunk.name in here.words)
        return self.mentions(*words) or any(chunk.mentions(words) for chunk in called)

    def _other_methods(self, node: cst.BaseExpression) -> Iterator[Flow]:
        """The methods of the class at hand that name an attribute of `self`, where it may be made."""
        owner = self.outline.chunks[self._current].owner
        if not owner or not isinstance(node, cst.Attribute):
            return
        for name, chunk in self.outline.chunks.items():
            if chunk.owner == owner and name != self._current and chunk.mentions((node.attr.value,)):
                flow = self.flow(name)
                if flow is not None:
                    yield flow

    def rate_put_in_again(self, load: Call) -> Edit | None:
        """The lines that make the configured rate count again after a state was loaded; None where there are none."""
        is_scheduler = load.receiver is not None and self.training_role(load.receiver) == "scheduler"
        return rate_put_in_again(load, self.here, is_scheduler=is_scheduler) if self.here is not None else None

    def has_own_schedule(self) -> bool:
        """Whether the function at hand loads a scheduler's state, or sets the rate by a schedule that is not torch's."""
        flow = self.here
        if self.has_call_on("scheduler", resuming.LOADING):
            return True
        return flow is not None and resuming.has_own_schedule(flow)

    def makes_scaler(self) -> bool:
        """Whether the file makes a GradScaler that outlives a step."""
        making = (chunk for chunk in self.outline.chunks.values() if chunk.mentions(("GradScaler",)))
        return any(not is_one_step(chunk) for chunk in making)

    def restores_scaler(self) -> bool:
        """Whether the state of a GradScaler is loaded anywhere in the file, maybe with that of others."""
        loading = [name for name, chunk in self.outline.chunks.items() if chunk.mentions(("load_state_dict",))]
        flows = (self.flow(name) for name in loading)
        return resuming.restores_scaler(flow for flow in flows if flow is not None)

    def is_plateau(self, node: cst.BaseExpression) -> bool:
        """Whether `node` is a scheduler that lowers the rate on a plateau: its own state holds no rate."""
        here = self.here is not None and resuming.is_plateau(node, self.here)
        return here or any(resuming.is_plateau(node, flow) for flow in self._other_methods(node))


def is_logging(node: cst.CSTNode) -> bool:
    """Whether it is a call that tells somebody something, by its name: `print(...)`, `self.logger.warning(...)`."""
    words = (dotted_text(node.func) or "").split(".") if isinstance(node, cst.Call) else []
    # `log` and `write` alone may be anything.
    return words[-1:] in (["print"], ["warn"]) or not _LOGGERS.isdisjoint(words[:-1])
