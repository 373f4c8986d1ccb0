"""Which call of a training loop is which event, recognised one call at a time. Knows neither order nor conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.analysis.name_hints import words_in
from nanlint.facts.loop_events import Event, EventKind, renamed
from nanlint.facts.loop_roles import is_called, is_framework, is_optimizer, is_scaler, is_scheduler
from nanlint.facts.names import BUILTINS, dotted_text
from nanlint.facts.naming import words_of
from nanlint.facts.values import UNKNOWN, Kind
from nanlint.facts.written import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.facts.flow import Flow
    from nanlint.facts.values import Call

_AVERAGE_WORDS = frozenset({"ema", "swa", "polyak", "averaged"})
_REDUCING = frozenset({"reduce", "reduced", "gather", "allreduce", "allgather", "reducer", "broadcast"})
_GRADIENT_WORDS = frozenset({"grad", "grads", "gradient", "gradients"})
_SETTING = frozenset({"assign", "set", "write", "overwrite", "put", "unflatten", "restore", "replace"})
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
        return words_in(self.word)

    def text(self, node: cst.BaseExpression | None) -> str:
        """The text of an expression, in the names of the loop that calls this code."""
        return renamed(text_of(node), self.names) if node is not None else ""

    def event(self, kind: EventKind, target: str = "", by: str = "", **flags: bool) -> Event:
        """This call as an event."""
        return Event(kind, self.call.node, self.flow, target, by, **flags)


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


# -- one function per kind ---------------------------------------------------------------------------------------


def _zero_grad(called: _Called) -> Event | None:
    if called.word == "zero_grad" and called.receiver is not None:
        return called.event(EventKind.ZERO_GRAD, called.text(called.receiver))
    if called.word in {"zero_", "nan_to_num_", "fill_", "detach_"} and is_called(called.receiver, _GRADIENT_WORDS):
        return called.event(EventKind.CLEAR, called.text(called.receiver)) if called.word != "detach_" else None
    # `assign_grads(model, projected)`: somebody's own way to set them.
    words = called.words()
    if words & _GRADIENT_WORDS and words & _SETTING:
        return called.event(EventKind.CLEAR, called.text(called.first))
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
    # apex skips a step by itself, and has its own way to the gradients.
    regions = called.flow.envs[called.call.node].regions if called.call.node in called.flow.envs else ()
    if any(region.function.endswith(".scale_loss") for region in regions):
        return called.event(EventKind.BACKWARD, called.text(receiver), "apex", is_framework=True)
    keyword = isinstance(called.call.node, cst.Call) and called.count and called.call.node.args[0].keyword is not None
    if first is None or keyword or not (is_framework(receiver) or is_called(first, _LOSSES)):
        return called.event(EventKind.BACKWARD, called.text(receiver))
    return called.event(EventKind.BACKWARD, called.text(first), called.text(receiver), is_framework=True)


def _scaled(node: cst.BaseExpression, flow: Flow) -> tuple[cst.BaseExpression | None, cst.BaseExpression] | None:
    """The loss and the scaler, if `node` is `scaler.scale(loss)` or a name for it."""
    call = flow.calls.get(node) or flow.values.get(node, UNKNOWN).made_by
    made = call.node if call is not None else None
    if not isinstance(made, cst.Call) or not isinstance(made.func, cst.Attribute) or made.func.attr.value != "scale":
        return None
    if not is_scaler(made.func.value, flow) or is_framework(made.func.value):
        return None
    return (made.args[0].value if made.args else None), made.func.value


def _scaling(called: _Called) -> Event | None:
    if called.word == "scale" and is_scaler(called.receiver, called.flow):
        return called.event(EventKind.SCALE, called.text(called.first), called.text(called.receiver), is_scaled=True)
    if "unscale" in called.word:
        # torch's takes an optimizer, one that takes parameters is somebody's own.
        framework = is_framework(called.receiver) or isinstance(called.first, cst.Call)
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
    framework = is_framework(called.receiver) or called.word in {"clip_gradients", "configure_gradient_clipping"}
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
    if is_called(receiver, frozenset({"engine"})):
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
    if called.word in {"update", "step"} and is_called(called.receiver, _AVERAGE_WORDS):
        return called.event(EventKind.AVERAGE, called.text(called.receiver))
    words = called.words()
    if words & _AVERAGE_WORDS and words & {"update", "step"}:
        return called.event(EventKind.AVERAGE, called.text(called.receiver or called.first))
    return None


def _reduce(called: _Called) -> Event | None:
    if called.words() & _REDUCING and called.call.function != "functools.reduce":
        return called.event(EventKind.REDUCE, called.text(called.first))
    return None


def is_logging(node: cst.CSTNode) -> bool:
    """Whether it is a call that tells somebody something, by its name: `print(...)`, `self.logger.warning(...)`."""
    words = (dotted_text(node.func) or "").split(".") if isinstance(node, cst.Call) else []
    # `log` and `write` alone may be anything.
    return words[-1:] in (["print"], ["warn"]) or not _LOGGERS.isdisjoint(words[:-1])


def _log(called: _Called) -> Event | None:
    root = called.call.function.partition(".")[0]
    if called.word in _LOGGING and (called.word in {"print", "log"} or root in _LOGGERS or called.receiver is not None):
        return called.event(EventKind.LOG, called.text(called.first))
    if is_called(called.receiver, _LOGGERS) or root in _LOGGERS:
        return called.event(EventKind.LOG, called.text(called.first))
    return None


def _forward(called: _Called) -> Event | None:
    function = called.call.node.func if isinstance(called.call.node, cst.Call) else None
    name = (
        called.words() if called.receiver is None or called.word != "forward" else frozenset(words_of(called.receiver))
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
