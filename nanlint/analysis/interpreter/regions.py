"""The regions that `with` and decorators open: without gradients, with them again, under autocast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.conditions import OR
from nanlint.analysis.op_graph import CALL, DTYPE, JOIN, NOTHING
from nanlint.word_sets import torch_names

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Value

NO_GRADIENT = torch_names("no_grad inference_mode autograd.no_grad")
WITH_GRADIENT = torch_names("enable_grad autograd.enable_grad")
SWITCHES = torch_names("set_grad_enabled autograd.set_grad_enabled")
AUTOCASTS = torch_names("autocast amp.autocast cuda.amp.autocast cpu.amp.autocast")
_EXPORTS = torch_names("""
    jit.is_scripting jit.is_tracing onnx.is_in_onnx_export compiler.is_exporting _C._get_tracing_state
""")


def is_export(test: Value) -> bool:
    """Whether a branch under this condition runs only when a model is exported: without gradients."""
    op = test.op
    if op is None or op.function not in {CALL, JOIN, OR}:
        return False
    return op.where in _EXPORTS if op.function == CALL else all(map(is_export, op.operands.values()))


def autocast_device(region: Value) -> str:
    """The kind of device of an autocast region, as far as it is stated; empty where it is switched off."""
    if region.op is None or not autocast_dtype(region):
        return ""
    if region.op.function.startswith(("torch.cuda.", "torch.cpu.")):
        return region.op.function.split(".")[1]
    stated = region.op.operands.get("device_type") or region.op.operands.get("0")
    return stated.constant.partition(":")[0] if stated is not None and isinstance(stated.constant, str) else ""


def autocast_dtype(region: Value) -> str:
    """The half dtype of an autocast region; empty where it is switched off."""
    function, operands = (region.op.function, region.op.operands) if region.op is not None else ("", {})
    # By place, the old spellings take whether it is on first, `torch.autocast` takes it after the dtype.
    names = ("0", "1") if function.startswith(("torch.cuda.", "torch.cpu.")) else ("2", "1")
    enabled, chosen = (
        operands.get(name) or operands.get(at) for name, at in zip(("enabled", "dtype"), names, strict=True)
    )
    if enabled is not None and enabled.constant is False:
        return ""
    is_known = chosen is not None and chosen.kind is DTYPE and chosen.constant is not NOTHING
    return str(chosen.constant) if chosen is not None and is_known else "float16"
