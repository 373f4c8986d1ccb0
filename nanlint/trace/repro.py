"""The operation that broke, with the values that broke it, as a script that runs alone and fails the same way.

Tried before it is told: a script that does not fail here is not written. Inputs are cut down while it still fails.
"""

from __future__ import annotations

import base64
import math
import zlib
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten, tree_map_only

from nanlint.trace.events import Call
from nanlint.trace.measure import bytes_of, flaws_of, is_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nanlint.trace.diagnosis import Diagnosis
    from nanlint.trace.events import Event

SPELLED_OUT = 48
"""Elements of a tensor that are written as numbers; more are packed."""
INLINE_BYTES = 1 << 20
TRIES = 80

HEADER = '''"""{title}

    {line}

{promise}
"""

import base64
import zlib

import torch


def unpacked(text, dtype, shape):
    return torch.frombuffer(bytearray(zlib.decompress(base64.b85decode(text))), dtype=dtype).reshape(shape)


'''
CHECK = """
for part in parts:
    bad = int((~torch.isfinite(part)).sum())
    assert bad == 0, f"{bad} of {part.numel()} values of the {WHAT} are not finite, of finite inputs: {part.flatten()[:8]}"
"""


def write_repro(diagnosis: Diagnosis, origin: Event | None, folder: Path) -> Path | None:
    """The script in `folder`, named after step and operation; None if the operation alone does not fail."""
    text = next(_failing_scripts(diagnosis, origin), None) if origin is not None else None
    if text is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    suffix = "_backward" if diagnosis.is_backward else ""
    path = folder / f"repro_step{diagnosis.step}_{diagnosis.operation.strip('_') or 'operation'}{suffix}.py"
    path.write_text(text, encoding="utf-8")
    return path


def _failing_scripts(diagnosis: Diagnosis, origin: Event) -> Iterator[str]:
    if origin.is_backward and origin.source.call is not None:
        for gradient in ("ones", "zeros"):
            yield from _script(diagnosis, origin.source.call, gradient)
    if origin.call is not None:
        yield from _script(diagnosis, origin.call, "")


def _script(diagnosis: Diagnosis, call: Call, gradient: str) -> Iterator[str]:
    """The script for a call, if it fails; with `gradient`, what fails is the backward pass of the call."""

    def fails(candidate: Call) -> bool:
        return _breaks(candidate, gradient)

    is_plain = all(tensor.layout is torch.strided for tensor in _tensors((call.arguments, call.options)))
    if not is_plain or bytes_of((call.arguments, call.options)) > INLINE_BYTES * 64 or not fails(call):
        return
    small = shrink(call, fails)
    if bytes_of((small.arguments, small.options)) <= INLINE_BYTES:
        text = _header(diagnosis) + _body(small, gradient)
        if _does_fail(text):
            yield text


def _breaks(call: Call, gradient: str) -> bool:
    """Whether finite inputs, or masks, give a result or a gradient that is not finite."""
    try:
        parts = _backward(call, gradient) if gradient else _tensors(_done(call))
    except Exception:  # noqa: BLE001 - what was cut down may be no valid input any more, whatever torch says to that
        return False
    return any(is_checkable(part) and bool(flaws_of(part)) for part in parts)


def _done(call: Call) -> Any:
    arguments, options = tree_map_only(torch.Tensor, torch.Tensor.clone, (call.arguments, call.options))
    return call.function(*arguments, **options)


def _backward(call: Call, gradient: str) -> list[torch.Tensor]:
    arguments, options = tree_map_only(torch.Tensor, _leaf, (call.arguments, call.options))
    with torch.enable_grad():
        results = [part for part in _tensors(call.function(*arguments, **options)) if part.requires_grad]
        fill = torch.ones_like if gradient == "ones" else torch.zeros_like
        torch.autograd.backward(results, [fill(part) for part in results])
    return [leaf.grad for leaf in _tensors((arguments, options)) if leaf.grad is not None]


def _leaf(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().requires_grad_(tensor.is_floating_point())


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]


def shrink(call: Call, fails: Callable[[Call], bool]) -> Call:
    """The call on as little of its inputs as still fails, by halving one dimension of all tensors at a time."""
    best, tries = call, 0
    progress = True
    while progress and tries < TRIES:
        progress = False
        for candidate in _halves(best):
            tries += 1
            if fails(candidate):
                best, progress = candidate, True
                break
            if tries >= TRIES:
                break
    return best


def _halves(call: Call) -> Iterator[Call]:
    sizes = {
        (dim, size) for tensor in _tensors((call.arguments, call.options)) for dim, size in enumerate(tensor.shape)
    }
    for dim, size in sorted(sizes, key=lambda pair: -pair[1]):
        if size > 1:
            for start, length in ((0, size // 2), (size // 2, size - size // 2)):
                yield _narrowed(call, (dim, size), start, length)


def _narrowed(call: Call, which: tuple[int, int], start: int, length: int) -> Call:
    dim, size = which

    def cut(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.narrow(dim, start, length) if tensor.dim() > dim and tensor.shape[dim] == size else tensor

    arguments, options = tree_map_only(torch.Tensor, cut, (call.arguments, call.options))
    return Call(call.function, arguments, options)


def _header(diagnosis: Diagnosis) -> str:
    place = diagnosis.place
    where = f"{place.shown} in {place.function}" if place else "an unknown line"
    way = "The backward pass of " if diagnosis.is_backward else ""
    return HEADER.format(
        title=f"{way}{diagnosis.operation} at {where}, step {diagnosis.step}.",
        line=(place.source if place else "").replace("\\", "\\\\").replace('"', '\\"'),
        promise="Run it with torch installed: it ends in an AssertionError, because the operation makes non-finite values.",
    )


def _body(call: Call, gradient: str) -> str:
    schema = call.function._schema.arguments  # noqa: SLF001 - it has no public name
    names = [argument.name for argument in schema]
    lines, given = [], []
    pairs = [*zip(names, call.arguments, strict=False), *call.options.items()]
    for index, (name, value) in enumerate(pairs):
        variable = f"{name}_" if name in {"input", "print"} else name
        leaf = ".requires_grad_()" if gradient and isinstance(value, torch.Tensor) and value.is_floating_point() else ""
        lines.append(f"{variable} = {literal(value)}{leaf}")
        given.append(variable if index < len(call.arguments) else f"{name}={variable}")
    operation = f"torch.ops.{str(call.function).replace('::', '.')}"
    lines.append(f"result = {operation}({', '.join(given)})")
    lines.append(
        "parts = [part for part in (result if isinstance(result, (tuple, list)) else [result]) if part is not None]"
    )
    if gradient:
        leaves = [variable for variable, (_, value) in zip(given, pairs, strict=True) if _is_float(value)]
        lines += [
            "parts = [part for part in parts if part.requires_grad]",
            f"torch.autograd.backward(parts, [torch.{gradient}_like(part) for part in parts])",
            f"parts = [leaf.grad for leaf in ({', '.join(leaves)},) if leaf.grad is not None]",
        ]
    return "\n".join(lines) + CHECK.replace("{WHAT}", "gradient" if gradient else "result")


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def literal(value: Any) -> str:
    """A value as an expression that makes it again."""
    if isinstance(value, torch.Tensor):
        return _tensor_literal(value.detach().cpu())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, torch.device):
        return 'torch.device("cpu")'
    return repr(value)


def _tensor_literal(tensor: torch.Tensor) -> str:
    if tensor.numel() <= SPELLED_OUT:
        numbers = repr(tensor.tolist()).replace("-inf", "-torch.inf").replace("nan", "torch.nan")
        numbers = numbers.replace(" inf", " torch.inf").replace("[inf", "[torch.inf")
        return f"torch.tensor({numbers if numbers != 'inf' else 'torch.inf'}, dtype={tensor.dtype}).reshape({tuple(tensor.shape)})"
    raw = tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()
    packed = base64.b85encode(zlib.compress(raw, 9)).decode("ascii")
    return f"unpacked({packed!r}, {tensor.dtype}, {tuple(tensor.shape)})"


def _does_fail(text: str) -> bool:
    """Whether the script ends as it says."""
    try:
        exec(compile(text, "<repro>", "exec"), {"__name__": "repro"})  # noqa: S102 - the text is our own
    except AssertionError:
        return True
    except Exception:  # noqa: BLE001 - an operation that cannot be called by name is no repro
        return False
    return False
