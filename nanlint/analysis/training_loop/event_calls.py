"""Which call of a training loop is which event, recognised one call at a time. Knows neither order nor conditions."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nanlint.analysis.name_hints import (
    AVERAGES,
    GRADIENTS,
    LOGGERS,
    LOSSES,
    MODELS,
    NO_FORWARD,
    REDUCING,
    SAVED,
    SETTING,
    words_in,
)
from nanlint.analysis.project.syntax_names import last_word
from nanlint.analysis.training_loop.events import Event, EventKind, first_of, renamed
from nanlint.analysis.training_loop.naming import words_of
from nanlint.analysis.training_loop.runs.roles import (
    is_called,
    is_framework,
    is_optimizer,
    is_scaler,
    is_scheduler,
    is_told_precision,
    may_be_off,
    may_scale,
    scales,
)
from nanlint.source.syntax.below import given_to
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanlint.analysis.training_loop.code import Code
    from nanlint.model import Span

_BUILTINS = frozenset(vars(builtins))
_LOGGING = word_set("print log info warning warn error debug critical exception write log_metrics")
_LIGHTNINGS_CLIPS = word_set("clip_gradients configure_gradient_clipping")


@dataclass(frozen=True, slots=True)
class _Called:
    """A call with what recognising it needs: the function's last word, and what it is a method of."""

    node: ast.Call
    code: Code
    names: Mapping[str, str]
    called_from: Span | None
    function: str
    word: str
    receiver: ast.expr | None

    @property
    def first(self) -> ast.expr | None:
        """The first argument, whatever it is called."""
        return first_of(self.node)

    @property
    def count(self) -> int:
        """How many arguments there are."""
        return len(self.node.args) + len(self.node.keywords)

    def words(self) -> frozenset[str]:
        """The words of the function's own name."""
        return words_in(self.word)

    def text(self, node: ast.AST | None) -> str:
        """The text of an expression, in the names of the loop that calls this code."""
        return renamed(self.code.text_of(node), self.names) if node is not None else ""

    def event(self, kind: EventKind, target: str = "", by: str = "", **flags: bool) -> Event:
        """This call as an event."""
        return Event(self.node, self.code, kind, target, by, **flags, called_from=self.called_from)


def event_of(
    node: ast.Call, code: Code, names: Mapping[str, str], *, called_from: Span | None = None, is_read: bool = False
) -> Event | None:
    """The event that a call is; None for what has no part in training.

    `names` are the caller's words for parameters; `is_read`, that the body of the function was looked into.
    """
    function = code.function_of(node)
    word = node.func.attr if isinstance(node.func, ast.Attribute) else function.rpartition(".")[2]
    called = _Called(node, code, names, called_from, function, word, code.receiver_of(node))
    recognisers = _RECOGNISERS if not is_read else [each for each in _RECOGNISERS if each is not _opaque]
    return next((event for recognise in recognisers if (event := recognise(called)) is not None), None)


# -- one function per kind ---------------------------------------------------------------------------------------


def _zero_grad(called: _Called) -> Event | None:
    if called.word == "zero_grad" and called.receiver is not None:
        return called.event(EventKind.ZERO_GRAD, called.text(called.receiver))
    if called.word in {"zero_", "nan_to_num_", "fill_", "detach_"} and is_called(called.receiver, GRADIENTS):
        return called.event(EventKind.CLEAR, called.text(called.receiver)) if called.word != "detach_" else None
    # `assign_grads(model, projected)`: somebody's own way to set them.
    words = called.words()
    if words & GRADIENTS and words & SETTING:
        return called.event(EventKind.CLEAR, called.text(called.first))
    return None


def _backward(called: _Called) -> Event | None:
    if called.word == "manual_backward":
        return called.event(EventKind.BACKWARD, called.text(called.first), "lightning", is_framework=True)
    if called.word != "backward":
        return None
    if called.receiver is None:
        is_torch = called.function == "torch.autograd.backward"
        return called.event(EventKind.BACKWARD, called.text(called.first)) if is_torch else None
    scaled = _scaled(called.receiver, called.code)
    if scaled is not None:
        loss, scaler = scaled
        off = may_be_off(scaler, called.code)
        return called.event(EventKind.BACKWARD, called.text(loss), called.text(scaler), is_scaled=True, may_be_off=off)
    return _indirect_backward(called)


def _indirect_backward(called: _Called) -> Event:
    """`accelerator.backward(loss)`, `engine.backward(loss)`, `optimizer.backward(loss)`, else `loss.backward()`."""
    first, receiver = called.first, called.receiver
    # apex skips a step by itself, and has its own way to the gradients.
    if _is_under_apex(called.node, called.code):
        return called.event(EventKind.BACKWARD, called.text(receiver), "apex", is_framework=True)
    if first is None or not called.node.args or not (is_framework(receiver) or is_called(first, LOSSES)):
        return called.event(EventKind.BACKWARD, called.text(receiver))
    is_left_alone = is_framework(receiver) and not may_scale(receiver, called.code)
    is_scaled = scales(receiver, called.code)
    texts = called.text(first), called.text(receiver)
    off = not is_left_alone and not is_scaled and is_told_precision(receiver, called.code)
    return called.event(EventKind.BACKWARD, *texts, is_framework=not is_left_alone, is_scaled=is_scaled, may_be_off=off)


def _is_under_apex(node: ast.AST, code: Code) -> bool:
    """Whether `with amp.scale_loss(...)` is around it."""
    items = (item for each in code.around(node) if isinstance(each, ast.With) for item in each.items)
    opened = (item.context_expr for item in items)
    return any(isinstance(each, ast.Call) and last_word(each) == "scale_loss" for each in opened)


def _scaled(node: ast.expr, code: Code) -> tuple[ast.expr | None, ast.expr] | None:
    """The loss and the scaler, if `node` is `scaler.scale(loss)` or a name for it."""
    made = [node] if isinstance(node, ast.Call) else [op.node for op in code.makers_of(node)]
    for call in made:
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call not in code.parents:
            continue
        scaler = call.func.value
        if call.func.attr == "scale" and is_scaler(scaler, code) and not is_framework(scaler):
            return first_of(call), scaler
    return None


def _scaling(called: _Called) -> Event | None:
    if called.word == "scale" and is_scaler(called.receiver, called.code):
        return called.event(EventKind.SCALE, called.text(called.first), called.text(called.receiver), is_scaled=True)
    if "unscale" in called.word:
        # torch's takes an optimizer, one that takes parameters is somebody's own.
        framework = is_framework(called.receiver) or isinstance(called.first, ast.Call)
        target = called.text(called.first)
        return called.event(EventKind.UNSCALE, target, called.text(called.receiver), is_framework=framework)
    if called.word == "update" and is_scaler(called.receiver, called.code):
        scaler = called.text(called.receiver)
        return called.event(EventKind.UPDATE, scaler, scaler, is_scaled=True)
    return None


def _clip(called: _Called) -> Event | None:
    words = called.words()
    if not words & {"clip", "clipping"} or not words & {*GRADIENTS, "norm"} or "from" in words:
        return None
    framework = may_scale(called.receiver, called.code) or called.word in _LIGHTNINGS_CLIPS
    by = called.text(called.receiver) if framework else ""
    return called.event(EventKind.CLIP, called.text(called.first), by, is_framework=framework)


def _step(called: _Called) -> Event | None:
    if called.word != "step" or called.receiver is None:
        return None
    receiver, code = called.receiver, called.code
    text = called.text(receiver)
    if is_scaler(receiver, code):
        off = may_be_off(receiver, code)
        return called.event(EventKind.STEP, called.text(called.first), text, is_scaled=True, may_be_off=off)
    # A scheduler of a diffusion process is given samples.
    if is_scheduler(receiver, code):
        return called.event(EventKind.SCHEDULE, text) if called.count <= 1 else None
    if is_optimizer(receiver, code):
        return called.event(EventKind.STEP, text)
    if is_called(receiver, frozenset({"engine"})):
        return called.event(EventKind.STEP, text, text, is_framework=True)
    return None


def _save(called: _Called) -> Event | None:
    if called.function == "torch.save":
        event = called.event(EventKind.SAVE)
        return called.event(EventKind.SAVE, called.text(event.argument("f")))
    words = called.words()
    if "save" in words and words & SAVED and "load" not in words:
        return called.event(EventKind.SAVE, called.text(called.first))
    return None


def _average(called: _Called) -> Event | None:
    if called.word == "update_parameters":
        return called.event(EventKind.AVERAGE, called.text(called.receiver))
    if called.word in {"update", "step"} and is_called(called.receiver, AVERAGES):
        return called.event(EventKind.AVERAGE, called.text(called.receiver))
    words = called.words()
    if words & AVERAGES and words & {"update", "step"}:
        return called.event(EventKind.AVERAGE, called.text(called.receiver or called.first))
    return None


def _reduce(called: _Called) -> Event | None:
    if called.words() & REDUCING and called.function != "functools.reduce":
        return called.event(EventKind.REDUCE, called.text(called.first))
    return None


def _log(called: _Called) -> Event | None:
    root = called.function.partition(".")[0]
    if called.word in _LOGGING and (called.word in {"print", "log"} or root in LOGGERS or called.receiver is not None):
        return called.event(EventKind.LOG, called.text(called.first))
    if is_called(called.receiver, LOGGERS) or root in LOGGERS:
        return called.event(EventKind.LOG, called.text(called.first))
    return None


def _forward(called: _Called) -> Event | None:
    is_own = called.receiver is None or called.word != "forward"
    name = called.words() if is_own else frozenset(words_of(called.receiver)) if called.receiver else frozenset()
    if name & LOSSES:
        return called.event(EventKind.LOSS, called.text(called.first))
    if name & MODELS and not name & NO_FORWARD:
        return called.event(EventKind.FORWARD, called.text(called.first))
    return None


def _opaque(called: _Called) -> Event | None:
    """Unknown code that gets hold of a scaler or an optimizer may unscale, clip or step."""
    code = called.code
    # Those of apex only read the optimizer.
    if called.function in _BUILTINS or called.word in {"scale_loss", "master_params"}:
        return None
    given = given_to(called.node)
    plain = [each for each in given if isinstance(each, ast.Name | ast.Attribute)]
    if any(is_scaler(each, code) or is_optimizer(each, code) for each in plain):
        return called.event(EventKind.OPAQUE)
    own = is_scaler(called.receiver, code) and called.word not in {"state_dict", "get_scale", "is_enabled"}
    # `self.loss_scaler(loss, optimizer)`: a scaler of one's own, which does everything.
    is_scaler_itself = isinstance(called.node.func, ast.Name | ast.Attribute) and is_scaler(called.node.func, code)
    return called.event(EventKind.OPAQUE) if own or is_scaler_itself else None


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
