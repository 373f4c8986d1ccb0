"""The events of a training loop, recognised one call at a time: zero_grad, backward, unscale_, clip, step, save, ...

A call is known by what it is made on where the file tells (`torch.optim.AdamW(...)`, `GradScaler()`), else by what people
call such a thing. This module knows neither order nor conditions.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.context import ancestors, is_used, statement_of
from nanlint.facts.environment import text_of
from nanlint.facts.names import BUILTINS, dotted_text
from nanlint.facts.naming import words_of
from nanlint.facts.values import UNKNOWN, Kind
from nanlint.model import Edit, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.facts.flow import Flow
    from nanlint.facts.values import Call

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SCALERS = frozenset(
    {
        "torch.amp.GradScaler",
        "torch.cuda.amp.GradScaler",
        "torch.amp.grad_scaler.GradScaler",
        "torch.cpu.amp.GradScaler",
    }
)
_OPTIMIZER_WORDS = frozenset({"optimizer", "optim", "opt", "optimizers", "optims", "optimiser", "solver"})
_SCHEDULER_WORDS = frozenset({"scheduler", "sched", "schedulers", "lrscheduler", "schedule", "lrs"})
_AVERAGE_WORDS = frozenset({"ema", "swa", "polyak", "averaged"})
_FRAMEWORK_WORDS = frozenset({"accelerator", "fabric", "engine", "strategy"})
_REDUCING = frozenset({"reduce", "reduced", "gather", "allreduce", "allgather", "reducer", "broadcast"})
_GRADIENT_WORDS = frozenset({"grad", "grads", "gradient", "gradients"})
_SAVED = frozenset(
    {"checkpoint", "checkpoints", "model", "state", "ckpt", "pretrained", "weights", "networks", "training"}
)
_LOGGERS = frozenset(
    {"logger", "log", "logging", "wandb", "writer", "pbar", "tqdm", "warnings", "console", "tb", "metrics"}
)
_LOGGING = frozenset(
    {"print", "log", "info", "warning", "warn", "error", "debug", "critical", "exception", "write", "log_metrics"}
)
_MODELS = frozenset({"model", "net", "network", "module", "generator", "discriminator", "actor", "critic", "policy"})
_LOSSES = frozenset({"loss", "losses", "criterion", "criterions"})


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
        return " ".join(self.flow.parsed.source_of(self.node).split())

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

    def line_before(self, text: str) -> Edit | None:
        """Write a statement on a line of its own above this one; None where this one shares its line."""
        return line_before(self.node, self.flow, text)

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


@dataclass(frozen=True, slots=True)
class _Called:
    """A call with what recognising it needs: the function's last word, and what it is a method of."""

    call: Call
    flow: Flow
    word: str
    receiver: cst.BaseExpression | None
    names: Mapping[str, str]

    @property
    def first(self) -> cst.BaseExpression | None:
        """The first argument, whatever it is called."""
        node = self.call.node
        return node.args[0].value if isinstance(node, cst.Call) and node.args and not node.args[0].star else None

    @property
    def count(self) -> int:
        """How many arguments there are."""
        return len(self.call.node.args) if isinstance(self.call.node, cst.Call) else 0

    def words(self) -> frozenset[str]:
        """The words of the function's own name."""
        return frozenset(word.lower() for word in _WORD.findall(self.word))

    def text(self, node: cst.BaseExpression | None) -> str:
        """The text of an expression, in the names of the loop that calls this code."""
        return renamed(text_of(node), self.names) if node is not None else ""

    def event(self, kind: EventKind, target: str = "", by: str = "", **flags: bool) -> Event:
        """This call as an event."""
        return Event(kind, self.call.node, self.flow, target, by, **flags)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """`text` with its first name replaced by what the caller calls it: `opt.step` -> `self.optimizer.step`."""
    match = re.match(r"\w+", text)
    return names[match[0]] + text[match.end() :] if match and match[0] in names else text


def shortened(text: str, longest: int) -> str:
    """`text`, cut where it is too long for a message."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def line_before(node: cst.CSTNode, flow: Flow, text: str) -> Edit | None:
    """Write a statement on a line of its own above the one that `node` is in; None where that shares its line."""
    statement = statement_of(node, flow.parsed.parents)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    span = flow.parsed.span_of(statement.body[0])
    indent = flow.reach.line(span.line)[: span.column - 1]
    if indent.strip():
        return None
    ending = "\r\n" if flow.reach.line(span.line).endswith("\r\n") else "\n"
    return Edit(Span(span.line, span.column, span.line, span.column), f"{text}{ending}{indent}")


def event_of(call: Call, flow: Flow, names: Mapping[str, str]) -> Event | None:
    """The event that a call is; None for what has no part in training. `names` are the caller's words for parameters."""
    node = call.node
    if not isinstance(node, cst.Call):
        return None
    receiver = None
    if isinstance(node.func, cst.Attribute):
        word = node.func.attr.value
        base = flow.values.get(node.func.value, UNKNOWN)
        receiver = node.func.value if base.kind is not Kind.REFERENCE else None
    else:
        word = call.function.rpartition(".")[2]
    called = _Called(call, flow, word, receiver, names)
    for recognise in _RECOGNISERS:
        event = recognise(called)
        if event is not None:
            return event
    return None


# -- whose method it is ------------------------------------------------------------------------------------------


def is_scaler(node: cst.BaseExpression | None, flow: Flow) -> bool:
    """Whether `node` is a GradScaler by how it was made, or by its name, and not one that is switched off."""
    made_by = flow.values.get(node, UNKNOWN).made_by if node is not None else None
    if made_by is not None and made_by.function in _SCALERS:
        enabled = made_by.arguments.get("enabled")
        return not (isinstance(enabled, cst.Name) and enabled.value == "False")
    return _is_called(node, frozenset({"scaler", "gradscaler"}))


def is_optimizer(node: cst.BaseExpression | None, flow: Flow) -> bool:
    """Whether `node` is an optimizer by how it was made, or by its name."""
    made = _maker(node, flow)
    if made.startswith("torch.optim.") and not made.startswith("torch.optim.lr_scheduler"):
        return True
    return _is_called(node, _OPTIMIZER_WORDS) and not _is_called(node, _SCHEDULER_WORDS)


def is_scheduler(node: cst.BaseExpression | None, flow: Flow) -> bool:
    """Whether `node` is a learning rate scheduler by how it was made, or by its name."""
    return _maker(node, flow).startswith("torch.optim.lr_scheduler.") or _is_called(node, _SCHEDULER_WORDS)


def _maker(node: cst.BaseExpression | None, flow: Flow) -> str:
    value = flow.values.get(node, UNKNOWN) if node is not None else UNKNOWN
    makers = [choice.made_by.function for choice in value.possible if choice.made_by is not None]
    return makers[0] if makers else ""


def _is_called(node: cst.BaseExpression | None, words: frozenset[str]) -> bool:
    return node is not None and not words.isdisjoint(words_of(node))


def _is_framework(node: cst.BaseExpression | None) -> bool:
    return _is_called(node, _FRAMEWORK_WORDS)


# -- one function per kind ---------------------------------------------------------------------------------------


def _zero_grad(called: _Called) -> Event | None:
    if called.word == "zero_grad" and called.receiver is not None:
        return called.event(EventKind.ZERO_GRAD, called.text(called.receiver))
    if called.word in {"zero_", "nan_to_num_", "fill_", "detach_"} and _is_called(called.receiver, _GRADIENT_WORDS):
        return called.event(EventKind.CLEAR, called.text(called.receiver)) if called.word != "detach_" else None
    return None


def _backward(called: _Called) -> Event | None:
    if called.word == "manual_backward":
        return called.event(EventKind.BACKWARD, called.text(called.first), "lightning", is_framework=True)
    if called.word != "backward":
        return None
    if called.receiver is None:
        is_torch = called.call.function == "torch.autograd.backward"
        return called.event(EventKind.BACKWARD, called.text(called.first)) if is_torch else None
    if isinstance(called.receiver, cst.Name) and called.receiver.value == "super":
        return None
    scaled = _scaled(called.receiver, called.flow)
    if scaled is not None:
        loss, scaler = scaled
        return called.event(EventKind.BACKWARD, called.text(loss), called.text(scaler), is_scaled=True)
    return _indirect_backward(called)


def _indirect_backward(called: _Called) -> Event:
    """`accelerator.backward(loss)`, `engine.backward(loss)`, `optimizer.backward(loss)`, else `loss.backward()`."""
    first, receiver = called.first, called.receiver
    keyword = isinstance(called.call.node, cst.Call) and called.count and called.call.node.args[0].keyword is not None
    if first is None or keyword or not (_is_framework(receiver) or _is_called(first, _LOSSES)):
        return called.event(EventKind.BACKWARD, called.text(receiver))
    return called.event(EventKind.BACKWARD, called.text(first), called.text(receiver), is_framework=True)


def _scaled(node: cst.BaseExpression, flow: Flow) -> tuple[cst.BaseExpression | None, cst.BaseExpression] | None:
    """The loss and the scaler, if `node` is `scaler.scale(loss)` or a name for it."""
    call = flow.calls.get(node) or flow.values.get(node, UNKNOWN).made_by
    made = call.node if call is not None else None
    if not isinstance(made, cst.Call) or not isinstance(made.func, cst.Attribute) or made.func.attr.value != "scale":
        return None
    if not is_scaler(made.func.value, flow) or _is_framework(made.func.value):
        return None
    return (made.args[0].value if made.args else None), made.func.value


def _scaling(called: _Called) -> Event | None:
    if called.word == "scale" and is_scaler(called.receiver, called.flow):
        return called.event(EventKind.SCALE, called.text(called.first), called.text(called.receiver), is_scaled=True)
    if "unscale" in called.word:
        framework = _is_framework(called.receiver)
        target = called.text(called.first)
        return called.event(EventKind.UNSCALE, target, called.text(called.receiver), is_framework=framework)
    if called.word == "update" and is_scaler(called.receiver, called.flow):
        return called.event(
            EventKind.UPDATE, called.text(called.receiver), called.text(called.receiver), is_scaled=True
        )
    return None


def _clip(called: _Called) -> Event | None:
    words = called.words()
    if not words & {"clip", "clipping"} or not words & {*_GRADIENT_WORDS, "norm"} or "from" in words:
        return None
    framework = _is_framework(called.receiver) or called.word in {"clip_gradients", "configure_gradient_clipping"}
    by = called.text(called.receiver) if framework else ""
    return called.event(EventKind.CLIP, called.text(called.first), by, is_framework=framework)


def _step(called: _Called) -> Event | None:
    if called.word != "step" or called.receiver is None:
        return None
    receiver, flow = called.receiver, called.flow
    text = called.text(receiver)
    if is_scaler(receiver, flow):
        return called.event(EventKind.STEP, called.text(called.first), text, is_scaled=True)
    # A scheduler of a diffusion process is given samples.
    if is_scheduler(receiver, flow):
        return called.event(EventKind.SCHEDULE, text) if called.count <= 1 else None
    if is_optimizer(receiver, flow):
        return called.event(EventKind.STEP, text)
    if _is_called(receiver, frozenset({"engine"})):
        return called.event(EventKind.STEP, text, text, is_framework=True)
    return None


def _save(called: _Called) -> Event | None:
    if called.call.function == "torch.save":
        path = called.call.arguments.get("f") or called.call.arguments.get("1")
        return called.event(EventKind.SAVE, called.text(path))
    words = called.words()
    if "save" in words and words & _SAVED and "load" not in words:
        return called.event(EventKind.SAVE, called.text(called.first))
    return None


def _average(called: _Called) -> Event | None:
    if called.word == "update_parameters":
        return called.event(EventKind.AVERAGE, called.text(called.receiver))
    if called.word in {"update", "step"} and _is_called(called.receiver, _AVERAGE_WORDS):
        return called.event(EventKind.AVERAGE, called.text(called.receiver))
    words = called.words()
    if words & _AVERAGE_WORDS and words & {"update", "step"}:
        return called.event(EventKind.AVERAGE, called.text(called.receiver or called.first))
    return None


def _reduce(called: _Called) -> Event | None:
    if called.words() & _REDUCING and called.call.function != "functools.reduce":
        return called.event(EventKind.REDUCE, called.text(called.first))
    return None


def _log(called: _Called) -> Event | None:
    root = called.call.function.partition(".")[0]
    if called.word in _LOGGING and (called.word in {"print", "log"} or root in _LOGGERS or called.receiver is not None):
        return called.event(EventKind.LOG, called.text(called.first))
    if _is_called(called.receiver, _LOGGERS) or root in _LOGGERS:
        return called.event(EventKind.LOG, called.text(called.first))
    return None


def _forward(called: _Called) -> Event | None:
    function = called.call.node.func if isinstance(called.call.node, cst.Call) else None
    name = (
        called.words()
        if called.receiver is None or called.word not in {"forward"}
        else frozenset(words_of(called.receiver))
    )
    if name & _LOSSES and function is not None:
        return called.event(EventKind.LOSS, called.text(called.first))
    if name & _MODELS and not name & {"update", "load", "set", "get", "build", "make", "create", "init"}:
        return called.event(EventKind.FORWARD, called.text(called.first))
    return None


def _opaque(called: _Called) -> Event | None:
    """Unknown code that gets hold of a scaler or an optimizer may unscale, clip or step."""
    if called.call.function in BUILTINS or called.call.function in {"hasattr", "type", "id"}:
        return None
    if called.flow.values.get(getattr(called.call.node, "func", None), UNKNOWN).kind is Kind.FUNCTION:  # type: ignore[arg-type]
        return None
    args = called.call.node.args if isinstance(called.call.node, cst.Call) else ()
    given = [arg.value for arg in args if isinstance(arg.value, (cst.Name, cst.Attribute))]
    if any(is_scaler(value, called.flow) or is_optimizer(value, called.flow) for value in given):
        return called.event(EventKind.OPAQUE)
    own = is_scaler(called.receiver, called.flow) and called.word not in {"state_dict", "get_scale", "is_enabled"}
    # `self.loss_scaler(loss, optimizer)`: a scaler of one's own, which does everything.
    return (
        called.event(EventKind.OPAQUE)
        if own or is_scaler(getattr(called.call.node, "func", None), called.flow)
        else None
    )


_RECOGNISERS: tuple[Callable[[_Called], Event | None], ...] = (
    _zero_grad,
    _backward,
    _scaling,
    _clip,
    _step,
    _average,
    _save,
    _log,
    _reduce,
    _opaque,
    _forward,
)
