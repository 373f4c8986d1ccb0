"""What modules and parameters are called, found without being told: by asking the garbage collector.

Asked once per optimizer and once per diagnosis; nothing is registered and nobody's model is touched.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel", "DataParallel", "OptimizedModule")


def living_modules() -> list[torch.nn.Module]:
    """Every nn.Module there is."""
    # type() and not isinstance(): a lazy proxy would wake up when asked for its __class__.
    things = gc.get_objects()
    kinds = {kind for kind in set(map(type, things)) if issubclass(kind, torch.nn.Module)}
    return [thing for thing in things if type(thing) in kinds]


def roots(modules: Iterable[torch.nn.Module]) -> list[torch.nn.Module]:
    """Those that are part of no other."""
    found = list(modules)
    inner = {id(child) for module in found for child in module._modules.values() if child is not None}  # noqa: SLF001 - children() hides repeats
    return [module for module in found if id(module) not in inner]


def is_wrapped(module: torch.nn.Module) -> bool:
    """Whether the module spreads its work over several processes."""
    return type(module).__name__ in WRAPPERS[:2]


def is_compiled(module: torch.nn.Module) -> bool:
    """Whether torch.compile made it or was applied to it."""
    return type(module).__name__ == "OptimizedModule" or getattr(module, "_compiled_call_impl", None) is not None


@dataclass(slots=True)
class Names:
    """The names of modules and of their tensors, as `named_parameters` has them."""

    modules: dict[int, str] = field(default_factory=dict)
    tensors: dict[int, str] = field(default_factory=dict)
    owners: dict[int, torch.nn.Module] = field(default_factory=dict)

    @classmethod
    def gather(cls) -> Names:
        """The names of everything there is; of several ways to a module the one from the largest root holds."""
        names = cls()
        for root in sorted(roots(living_modules()), key=_size):
            for path, module in root.named_modules():
                names._enter(_plain(path), module, root)
        return names

    def _enter(self, path: str, module: torch.nn.Module, root: torch.nn.Module) -> None:
        self.modules[id(module)] = path or type(root).__name__
        for name, tensor in _own_tensors(module):
            self.tensors[id(tensor)] = f"{path}.{name}" if path else name
            self.owners[id(tensor)] = module

    def of_module(self, module: Any) -> str:
        """Its path, or its class if it is gone; empty for no module."""
        return "" if module is None else self.modules.get(id(module), type(module).__name__)

    def of_tensor(self, tensor: torch.Tensor) -> str:
        """The parameter's or buffer's name; empty if it has none."""
        return self.tensors.get(id(tensor), "")


def _size(root: torch.nn.Module) -> tuple[int, bool]:
    return sum(1 for _ in root.modules()), type(root).__name__ not in WRAPPERS


def _plain(path: str) -> str:
    """The path without what wrappers put in front."""
    return ".".join(part for part in path.split(".") if part not in {"_orig_mod", "_fsdp_wrapped_module"})


def _own_tensors(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from ((name, tensor) for name, tensor in module._parameters.items() if tensor is not None)  # noqa: SLF001 - see roots
    yield from ((name, tensor) for name, tensor in module._buffers.items() if tensor is not None)  # noqa: SLF001 - see roots
