"""What modules and parameters are called, found without being told: by asking the garbage collector.

Asked once per optimizer and once per diagnosis; nothing is registered and nobody's model is touched.
"""

from __future__ import annotations

import gc
import sys
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


def compiled_functions() -> int:
    """How many functions this process has compiled: a hook would be compiled with the next."""
    dynamo = sys.modules.get("torch._dynamo")
    return 0 if dynamo is None else int(dynamo.utils.counters["frames"]["total"])


def is_compiled_among(parameters: Iterable[torch.Tensor]) -> bool:
    """Whether one of them belongs to a module that went through torch.compile."""
    if "torch._dynamo" not in sys.modules:
        return False
    trained = {id(parameter) for parameter in parameters}
    compiled = (module for module in living_modules() if is_compiled(module))
    return any(id(parameter) in trained for module in compiled for parameter in module.parameters())


@dataclass(slots=True)
class Names:
    """The names of modules and of their tensors, as `named_parameters` has them."""

    modules: dict[int, str] = field(default_factory=dict)
    tensors: dict[int, str] = field(default_factory=dict)
    owners: dict[int, torch.nn.Module] = field(default_factory=dict)
    ties: dict[int, list[str]] = field(default_factory=dict)
    """Every name of a tensor, of tied weights more than one."""
    storages: dict[int, torch.Tensor] = field(default_factory=dict)
    """The named tensor that owns a memory, of which an operation may be given a view."""
    _root_of: dict[int, torch.nn.Module] = field(default_factory=dict)

    @classmethod
    def gather(cls) -> Names:
        """The names of everything there is; of several ways to a module the one from the largest root holds."""
        names = cls()
        for root in sorted(roots(living_modules()), key=_size):
            for path, module in root.named_modules():
                names._enter(_plain(path), module, root)
        for owner in names.owners.values():
            names.storages.update(
                (storage_of(tensor), tensor) for _, tensor in _own_tensors(owner) if _has_storage(tensor)
            )
        return names

    def _enter(self, path: str, module: torch.nn.Module, root: torch.nn.Module) -> None:
        self.modules[id(module)] = path or type(root).__name__
        for name, tensor in _own_tensors(module):
            full = f"{path}.{name}" if path else name
            known = self.ties.get(id(tensor), [])
            # The largest root comes last and has the names that count; within one root the first name does.
            known = [*known, full] if known and self._root_of.get(id(tensor)) is root else [full]
            self.ties[id(tensor)], self._root_of[id(tensor)] = known, root
            self.tensors[id(tensor)] = known[0]
            if len(known) == 1:
                self.owners[id(tensor)] = module

    def of_module(self, module: Any) -> str:
        """Its path, or its class if it is gone; empty for no module."""
        return "" if module is None else self.modules.get(id(module), type(module).__name__)

    def of_tensor(self, tensor: torch.Tensor) -> str:
        """The parameter's or buffer's name, also of a view of it; empty if it has none."""
        return self.tensors.get(id(self._owner_of(tensor)), "")

    def tie_of(self, tensor: torch.Tensor) -> str:
        """` (tied with ...)` for a weight that has other names as well."""
        others = self.ties.get(id(self._owner_of(tensor)), [])[1:]
        return f" (tied with {', '.join(f'`{name}`' for name in others)})" if others else ""

    def is_buffer(self, tensor: torch.Tensor) -> bool:
        """Whether it is a module's and not learned."""
        return not isinstance(self._owner_of(tensor), torch.nn.Parameter)

    def _owner_of(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) in self.tensors or not _has_storage(tensor):
            return tensor
        return self.storages.get(storage_of(tensor), tensor)


def storage_of(tensor: torch.Tensor) -> int:
    """The identity of the memory that a tensor looks at."""
    return int(tensor.untyped_storage()._cdata)  # noqa: SLF001 - it has no public name


def _has_storage(tensor: torch.Tensor) -> bool:
    return type(tensor) in {torch.Tensor, torch.nn.Parameter} and tensor.layout is torch.strided


def _size(root: torch.nn.Module) -> tuple[int, bool]:
    return sum(1 for _ in root.modules()), type(root).__name__ not in WRAPPERS


def _plain(path: str) -> str:
    """The path without what wrappers put in front."""
    return ".".join(part for part in path.split(".") if part not in {"_orig_mod", "_fsdp_wrapped_module"})


def _own_tensors(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from ((name, tensor) for name, tensor in module._parameters.items() if tensor is not None)  # noqa: SLF001 - see roots
    yield from ((name, tensor) for name, tensor in module._buffers.items() if tensor is not None)  # noqa: SLF001 - see roots
