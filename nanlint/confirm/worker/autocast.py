"""CUDA's autocast without a GPU: tensors on the CPU get the dtypes that they would have there.

CPU autocast is no stand-in: half of the operations differ. The lists are torch's own, read from the header that every
wheel ships; the tests compare the dtypes with those of fake cuda tensors. What the hardware does (reduced-precision
accumulation, fused kernels) is not emulated.
"""

from __future__ import annotations

import functools
import os
import re
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

_HEADER = os.path.join(os.path.dirname(torch.__file__), "include", "ATen", "autocast_mode.h")  # noqa: PTH118, PTH120 - no pathlib in the child
_OPERATORS = {
    "matmul": "matmul",
    "rmatmul": "matmul",
    "pow": "pow",
    "rpow": "pow",
    "rdiv": "reciprocal",
    "rtruediv": "reciprocal",
}
BANNED = "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast."
_SWITCHES = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")


@functools.cache
def lists() -> dict[str, frozenset[str]]:
    """The operations that run in the lower precision, in float32, and in the widest type of their inputs."""
    with open(_HEADER, encoding="utf-8") as file:  # noqa: PTH123 - no pathlib in the child
        text = file.read()
    return {
        "lower": _block(text, "AT_FORALL_LOWER_PRECISION_FP"),
        "float32": _block(text, "AT_FORALL_FP32")
        | _block(text, "AT_FORALL_FP32_SET_OPT_DTYPE")
        | {"norm", "cross_entropy_loss", "cross_entropy", "ctc_loss"},
        "widest": _block(text, "AT_FORALL_PROMOTE") | {"cat", "stack"},
    }


def _block(text: str, macro: str) -> frozenset[str]:
    found = re.search(rf"#define {macro}\(_\)(.*?)\n\n", text, re.DOTALL)
    return frozenset(re.findall(r"_\((\w+)", found[1])) if found else frozenset()


def _name_of(function: Any) -> str:
    name = str(getattr(function, "__name__", ""))
    return _OPERATORS.get(name.strip("_"), name.strip("_") if name.startswith("__") else name.rstrip("_"))


class Emulation(TorchFunctionMode):
    """Casts the inputs of every operation as CUDA's autocast would."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype
        self._switches: dict[str, Any] = {}

    entered = 0
    """How many of them are in force."""

    def __enter__(self) -> Any:
        Emulation.entered += 1
        # The functions of torch.nn.functional hide what they call; with these off, the mode sees it.
        self._switches = {name: getattr(functional, name) for name in _SWITCHES if hasattr(functional, name)}
        for name in self._switches:
            setattr(functional, name, lambda *_: False)
        return super().__enter__()  # type: ignore[no-untyped-call] # torch's own class is untyped

    def __exit__(self, *details: object) -> None:
        Emulation.entered -= 1
        for name, switch in self._switches.items():
            setattr(functional, name, switch)
        super().__exit__(*details)  # type: ignore[no-untyped-call] # same

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = _name_of(function), kwargs or {}
        if name == "binary_cross_entropy":
            raise RuntimeError(BANNED)
        known = lists()
        if name in known["lower"]:
            args, kwargs = _cast((args, kwargs), self.dtype)
        elif name in known["float32"]:
            args, kwargs = _cast((args, kwargs), torch.float32)
        elif name in known["widest"]:
            args, kwargs = _cast((args, kwargs), _widest((args, kwargs)))
        return function(*args, **kwargs)


def _cast(values: Any, dtype: torch.dtype | None) -> Any:
    if dtype is None:
        return values
    return tree_map(lambda one: one.to(dtype) if _is_castable(one) else one, values)


def _is_castable(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in {torch.float16, torch.bfloat16, torch.float32}


def _widest(values: Any) -> torch.dtype | None:
    found: list[torch.dtype] = []
    tree_map(lambda one: found.append(one.dtype) if _is_castable(one) else None, values)
    if not found:
        return None
    return functools.reduce(torch.promote_types, found)


class EmulatedAutocast:
    """Takes the place of `torch.autocast` for cuda where there is no GPU; other devices get the real one."""

    def __init__(
        self,
        device_type: str = "cuda",
        dtype: torch.dtype | None = None,
        enabled: bool = True,  # noqa: FBT001, FBT002 - the signature of torch
        cache_enabled: bool | None = None,  # noqa: FBT001 - same
    ) -> None:
        if str(device_type).partition(":")[0] == "cuda":
            self.mode: Any = Emulation(dtype or torch.float16) if enabled else _Off()
        else:
            self.mode = _real()(device_type, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    def __enter__(self) -> Any:
        return self.mode.__enter__()

    def __exit__(self, *details: object) -> Any:
        return self.mode.__exit__(*details)

    def __call__(self, function: Any) -> Any:
        """As a decorator."""

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside


class _Off:
    """`autocast(enabled=False)`: a stretch without casts inside one with."""

    def __enter__(self) -> None:
        self.guard: Any = torch._C.DisableTorchFunction()  # noqa: SLF001 - the switch that torch itself uses
        self.guard.__enter__()

    def __exit__(self, *details: object) -> None:
        self.guard.__exit__(*details)


_REAL: list[Any] = []


def _real() -> Any:
    return _REAL[0] if _REAL else torch.autocast


def emulate() -> bool:
    """Replace `torch.autocast` in this process if there is no GPU; True if it was replaced."""
    if torch.cuda.is_available() or _REAL:
        return bool(_REAL)
    _REAL.append(torch.autocast)
    torch.autocast = torch.amp.autocast = torch.amp.autocast_mode.autocast = EmulatedAutocast  # type: ignore[misc, assignment] # on purpose
    torch.cuda.amp.autocast = _for_cuda  # type: ignore[misc, assignment] # on purpose
    return True


def _for_cuda(enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True) -> EmulatedAutocast:  # noqa: FBT001, FBT002 - the signature of torch
    return EmulatedAutocast("cuda", dtype, enabled, cache_enabled)
