"""`--trust`: torch loads the file, with all the code that is in it. For formats that cannot be read as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from nanlint.checkpoint.reading import UnreadableCheckpoint
from nanlint.checkpoint.region import Region
from nanlint.checkpoint.saved import Opaque, SavedTensor, Storage, contiguous

if TYPE_CHECKING:
    from pathlib import Path


def load_for_real(path: Path) -> Any:
    """What `torch.load` makes of the file, its tensors as saved ones over the memory that torch has put them in."""
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=False)
    except Exception as error:  # noqa: BLE001 - the file's own code can raise anything
        raise UnreadableCheckpoint(f"cannot be loaded by torch either: {type(error).__name__}: {error}") from None
    return _as_data(loaded)


def _as_data(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _saved(value)
    if isinstance(value, dict):
        return {key: _as_data(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_as_data(each) for each in value]
    if isinstance(value, torch.nn.Module):
        return _as_data(dict(value.state_dict()))
    return value if isinstance(value, str | int | float | None) else Opaque(type(value).__name__)


def _saved(tensor: torch.Tensor) -> SavedTensor:
    flat = tensor.detach().dequantize() if tensor.is_quantized else tensor.detach().to_dense()
    dtype = str(flat.dtype).removeprefix("torch.")
    values = flat.contiguous().reshape(-1)
    view = memoryview(bytearray(values.view(torch.uint8).numpy().tobytes()))
    storage = Storage(dtype, values.numel(), "in memory", lambda: Region(view))
    return SavedTensor(dtype, tuple(tensor.shape), contiguous(tuple(tensor.shape)), 0, storage)
