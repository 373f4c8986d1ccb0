"""The surroundings of a script that is run for a few steps: arguments, data, devices and files that it has not got here.

What is missing is made up, and `replaced` says what: samples for a data set that cannot be read, the states of an older run
for a checkpoint, the chosen device for CUDA.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from nanlint.confirm.names import count, fraction
from nanlint.confirm.worker.placement import OnDevice
from nanlint.confirm.worker.stub_objects import Stub, Stubbed
from nanlint.confirm.worker.training.loaded import OldFile
from nanlint.confirm.worker.training.recipes import BATCH, SAMPLES, Samples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.confirm.worker.training.log import Log

Json = dict[str, Any]
CHECKPOINT = "checkpoint.pt"
_RESUMES = re.compile(r"resume|checkpoint|ckpt|pretrained|weights_path|load_from")
_PATHS = re.compile(r"path|dir|root|folder|file|images|data")
_FAILED = "nanlint_failed"


class _First(Sampler[int]):
    """The first few samples, in order."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.size))

    def __len__(self) -> int:
        return self.size


@contextlib.contextmanager
def surroundings(job: Json, recipe: Json, log: Log) -> Iterator[list[str]]:
    """Patch what a script asks the world for; yields what had to be made up."""
    replaced: list[str] = []
    with contextlib.ExitStack() as stack:
        for one in (
            _arguments(recipe, resumes=recipe.get("resumes", False)),
            _loaders(recipe, replaced),
            _datasets(replaced),
            *_files(recipe, log, replaced),
            *_cuda(job["device"]),
        ):
            stack.enter_context(one)
        if not job["device"].startswith("cuda"):
            stack.enter_context(OnDevice())
        yield replaced


def _arguments(recipe: Json, *, resumes: bool) -> Any:
    plain = argparse.ArgumentParser.parse_known_args
    del recipe

    def parse_known_args(self: Any, args: Any = None, namespace: Any = None) -> Any:
        del args
        for action in self._actions:
            if action.required or not action.option_strings:
                action.required, action.default = False, _default(action)
                action.nargs = "?" if not action.option_strings and action.nargs is None else action.nargs
        found, rest = plain(self, [], namespace)
        for name, value in vars(found).items():
            setattr(found, name, _shrunk(name, value, resumes=resumes))
        return found, rest

    return mock.patch.object(argparse.ArgumentParser, "parse_known_args", parse_known_args)


def _default(action: Any) -> Any:
    if action.choices:
        return next(iter(action.choices))
    if action.type is int:
        return count(action.dest)
    return fraction(action.dest) if action.type is float else action.dest


def _shrunk(name: str, value: Any, *, resumes: bool) -> Any:
    """A setting as it is for a run of a few steps."""
    lowered = name.lower()
    if resumes and _RESUMES.search(lowered) and (value is None or isinstance(value, str)):
        return CHECKPOINT
    if type(value) is not int:
        return value
    if "worker" in lowered:
        return 0
    if re.search(r"batch", lowered) and value > BATCH and "accum" not in lowered:
        return BATCH
    return 3 if re.search(r"epoch", lowered) and value > 3 else value


def _is_missing(dataset: Any) -> bool:
    return isinstance(dataset, (Stub, Stubbed)) or getattr(dataset, _FAILED, False) or isinstance(dataset, OldFile)


def _loaders(recipe: Json, replaced: list[str]) -> Any:
    plain = DataLoader.__init__

    def init(self: Any, dataset: Any, batch_size: Any = 1, *args: Any, **kwargs: Any) -> None:
        del args
        kept = {key: kwargs[key] for key in ("collate_fn", "drop_last") if kwargs.get(key) is not None}
        kept = {key: value for key, value in kept.items() if not isinstance(value, Stub)}
        if not _can_be_read(dataset):
            dataset = Samples(recipe)
            kept.pop("collate_fn", None)
            replaced.append("data")
        size = min(len(dataset), SAMPLES)
        batch = min(batch_size, BATCH) if isinstance(batch_size, int) else BATCH
        if recipe.get("rest"):
            # One sample is left when the others have been taken.
            size, batch = (size - 1) // BATCH * BATCH + 1, BATCH
        plain(self, dataset, batch_size=batch, sampler=_First(size), **kept)

    return mock.patch.object(DataLoader, "__init__", init)


def _can_be_read(dataset: Any) -> bool:
    """Whether the script's own data set gives samples."""
    if _is_missing(dataset):
        return False
    try:
        sample = dataset[0]
    except Exception:  # noqa: BLE001 - the border to the user's code
        return False
    parts = sample.values() if isinstance(sample, dict) else sample if isinstance(sample, (list, tuple)) else [sample]
    return not any(isinstance(one, (Stub, OldFile)) for one in parts)


def _datasets(replaced: list[str]) -> Any:
    """A data set of the user whose constructor fails is there all the same, and gives made-up samples."""

    def init_subclass(cls: Any, /, **_: Any) -> None:
        plain = cls.__dict__.get("__init__")
        length = cls.__dict__.get("__len__")
        if plain is not None:

            def init(self: Any, *args: Any, **kwargs: Any) -> None:
                try:
                    plain(self, *args, **kwargs)
                except Exception as error:  # noqa: BLE001 - the border to the user's code
                    self.__dict__[_FAILED] = True
                    replaced.append(f"`{cls.__name__}` ({type(error).__name__})")

            cls.__init__ = init
        if length is not None:
            cls.__len__ = lambda self: SAMPLES if self.__dict__.get(_FAILED) else length(self)

    return mock.patch.object(Dataset, "__init_subclass__", classmethod(init_subclass), create=True)


def _files(recipe: Json, log: Log, replaced: list[str]) -> list[Any]:
    import numpy as np  # noqa: PLC0415 - the recipes need it, and torch runs without it, too

    load = torch.load
    is_there, is_file = os.path.exists, os.path.isfile

    def torch_load(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, (str, os.PathLike)) and not is_there(file):
            replaced.append(f"`{os.path.basename(os.fspath(file))}`")  # noqa: PTH119 - strings
            return OldFile(recipe)
        return load(file, *args, **kwargs)

    def numbers(file: Any, *args: Any, **kwargs: Any) -> Any:
        del args
        replaced.append(f"`{os.path.basename(os.fspath(file))}`")  # noqa: PTH119 - strings
        kind = kwargs.get("dtype", np.float32)
        return (np.arange(4096) % 7).astype(kind)

    def save(state: object, *_: object, **__: object) -> None:
        log.note("save", finite=all(bool(torch.isfinite(one).all()) for one in saved_tensors(state)))

    def exists(path: Any) -> bool:
        return is_there(path) or (bool(recipe.get("resumes")) and str(path).endswith(CHECKPOINT))

    def isfile(path: Any) -> bool:
        return is_file(path) or (bool(recipe.get("resumes")) and str(path).endswith(CHECKPOINT))

    return [
        mock.patch.object(torch, "load", torch_load),
        mock.patch.object(torch, "save", save),
        *(mock.patch.object(np, name, numbers) for name in ("memmap", "load", "fromfile", "loadtxt", "genfromtxt")),
        mock.patch.object(os.path, "exists", exists),
        mock.patch.object(os.path, "isfile", isfile),
    ]


def saved_tensors(state: object) -> Iterator[torch.Tensor]:
    """The floating point tensors of what is saved."""
    if isinstance(state, torch.Tensor):
        if state.is_floating_point():
            yield state
    elif isinstance(state, (dict, list, tuple)):
        for value in state.values() if isinstance(state, dict) else state:
            yield from saved_tensors(value)
    elif isinstance(state, torch.nn.Module):
        yield from saved_tensors(state.state_dict())


def _nothing() -> Any:
    """What a device that is not there does; each time another function, for torch's compiler knows functions by identity."""
    return lambda *_, **__: None


def _cuda(device: str) -> list[Any]:
    """Scalers work on the chosen device; what only a CUDA device can do, does nothing elsewhere."""
    if device.startswith("cuda"):
        return []
    plain = torch.amp.GradScaler.__init__

    def init(self: Any, device: str = "cuda", *args: Any, **kwargs: Any) -> None:
        del device
        plain(self, "cpu", *args, **kwargs)

    idle = ("set_device", "synchronize", "empty_cache", "reset_peak_memory_stats", "manual_seed_all")
    return [
        mock.patch.object(torch.amp.GradScaler, "__init__", init),
        *(mock.patch.object(torch.cuda, name, _nothing()) for name in idle),
        mock.patch.object(torch.Tensor, "pin_memory", lambda self, *_: self),
    ]
