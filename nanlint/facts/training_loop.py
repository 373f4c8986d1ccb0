"""The training loops of a file: every loop, or step method, that makes a backward and a step, with the ways through it.

The innermost loop that holds both counts; a function that holds both and no such loop is a step method, called once for
each batch. A function that another one of the file calls is looked at where it is called, and not by itself.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.facts.loop_events import Event, EventKind
from nanlint.facts.loop_items import Block, Branch, Repeat, branches_in, events_in, repeats_in
from nanlint.facts.loop_paths import Path, paths_through
from nanlint.facts.loop_tree import TreeBuilder
from nanlint.facts.unscaling import Again, CutShort, cut_short, is_instead, stepped_again, unscaled_again
from nanlint.facts.written import text_of
from nanlint.source.outline import MODULE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.reach import Reach
    from nanlint.source.outline import Chunk, Outline

_STARTS = frozenset({"backward", "manual_backward"})
# Callers of callers are looked for so far.
_DEEPEST = 3
_DISTRIBUTED = frozenset(
    {
        "DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP", "fully_shard", "init_process_group",
        "DistributedSampler", "no_sync", "world_size",
    }
)  # fmt: skip


@dataclass(eq=False)
class TrainingLoop:
    """One round of training: the body of a loop or of a step method."""

    body: Block
    root: str
    """The qualified name of the function from which it was read."""
    repeat: Repeat | None = None
    """The loop itself; None for a step method."""
    outer: Block = ()
    """The body of the loop around, as of the epochs; () if there is none."""

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Everything that happens in a round, in reading order."""
        return tuple(events_in(self.body))

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """Every way through a round; () when there are too many to look at."""
        return paths_through(self.body)

    @property
    def is_step_method(self) -> bool:
        """Whether it is a function that somebody else calls for each batch."""
        return self.repeat is None

    def of(self, *kinds: str) -> list[Event]:
        """The events of these kinds, in reading order."""
        return [event for event in self.events if event.kind in kinds]

    @cached_property
    def around(self) -> tuple[Event, ...]:
        """Everything that happens in the loop around this one, this one included; the same as `events` without one."""
        return tuple(events_in(self.outer)) or self.events

    def conditions_of(self, event: Event) -> list[str]:
        """The texts of the conditions that an event of this loop or the one around stands under, those of callers included."""
        branches = branches_in(self.outer or self.body)
        around = [found for found in branches if event in events_in((*found.then, *found.otherwise))]
        return [*event.conditions, *(text_of(found.test) for found in around)]

    @cached_property
    def checks(self) -> list[Branch]:
        """The conditions that ask whether a loss, a gradient, a norm or a parameter is finite."""
        return [found for found in branches_in(self.body) if found.check is not None and found.check.is_about_training]

    @cached_property
    def outer_checks(self) -> list[Branch]:
        """As `checks`, in the loop around."""
        return [found for found in branches_in(self.outer) if found.check is not None and found.check.is_about_training]

    @cached_property
    def is_scaled(self) -> bool:
        """Whether a GradScaler makes steps, on some path at least."""
        return any(event.is_scaled for event in self.of(EventKind.STEP, EventKind.BACKWARD))

    @cached_property
    def is_framework(self) -> bool:
        """Whether Accelerate, Fabric, Lightning or DeepSpeed makes the backward or the step."""
        return any(event.is_framework for event in self.of(EventKind.STEP, EventKind.BACKWARD, EventKind.CLIP))

    def is_instead(self, step: Event) -> bool:
        """Whether the same condition that leads to this step leads to one of the scaler, answered otherwise."""
        return is_instead(step, self.paths)

    def stepped_again(self) -> list[Event]:
        """Steps of an optimizer itself behind every step that a scaler has made with it."""
        return stepped_again(self.paths)

    def unscaled_again(self) -> list[Again]:
        """Every `unscale_` that comes a second time before an update."""
        return unscaled_again(self.paths)

    def cut_short(self) -> list[CutShort]:
        """Every `unscale_` behind which a round can be left without an update."""
        return cut_short(self.paths)

    @cached_property
    def optimizers(self) -> frozenset[str]:
        """The optimizers that make steps, by their names in the loop."""
        return frozenset(event.target for event in self.of(EventKind.STEP))


def is_distributed(outline: Outline) -> bool:
    """Whether the file trains with several processes, by the words it uses."""
    imported = {name.rpartition(".")[2] for name in outline.imports.values()}
    return not _DISTRIBUTED.isdisjoint(imported) or any(
        chunk.mentions(_DISTRIBUTED) for chunk in outline.chunks.values()
    )


def training_loops(reach: Reach) -> list[TrainingLoop]:
    """Every training loop of the file, in reading order of the functions that they are read from."""
    starts = [name for name, chunk in reach.outline.chunks.items() if chunk.mentions(_STARTS)]
    if not starts:
        return []
    builder = TreeBuilder(reach)
    trees: dict[str, Block] = {}
    for name in _callers_first(starts, reach.outline):
        if name not in builder.followed:
            trees[name] = builder.tree_of(name)
    loops: list[TrainingLoop] = []
    for name, tree in trees.items():
        if name not in builder.followed and not _is_test(name):
            loops += _loops_in(tree, name)
    return loops


def _callers_first(starts: list[str], outline: Outline) -> list[str]:
    """`starts` and the functions that may call them, those that nobody calls first."""
    levels = [starts]
    seen = set(starts)
    for _ in range(_DEEPEST):
        called = [outline.chunks[name] for name in levels[-1] if name != MODULE]
        found = [
            name
            for name, chunk in outline.chunks.items()
            if name not in seen and _is_function(chunk.node) and any(_may_call(chunk, other) for other in called)
        ]
        seen.update(found)
        if not found:
            break
        levels.append(found)
    ordered = [name for level in reversed(levels) for name in level]
    # Among the starts themselves, one may call another.
    names = {outline.chunks[name].name: name for name in starts}
    return sorted(ordered, key=lambda name: _calls(name, names, outline), reverse=True)


def _may_call(chunk: Chunk, other: Chunk) -> bool:
    """Whether a function names another one, which must be of the same class if it is a method: `self.train_step(...)`."""
    return other.owner in {"", chunk.owner} and chunk.mentions((other.name,))


def _calls(name: str, names: dict[str, str], outline: Outline) -> int:
    """How many of the starts the function may call."""
    return len({other for other in names if names[other] != name} & outline.chunks[name].words)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def _is_test(name: str) -> bool:
    owner, _, function = name.rpartition(".")
    return function.startswith("test_") or owner.startswith("Test")


def _loops_in(tree: Block, root: str) -> Iterator[TrainingLoop]:
    """The innermost loops that hold a backward and a step; the function itself if it holds them and no loop does."""
    found = list(_innermost(tree, root, ()))
    if found:
        yield from found
    elif _trains(tree):
        yield TrainingLoop(tree, root)


def _innermost(tree: Block, root: str, outer: Block) -> Iterator[TrainingLoop]:
    for repeat in repeats_in(tree):
        if not _trains(repeat.body):
            continue
        inner = list(_innermost(repeat.body, root, repeat.body))
        if inner:
            yield from inner
        else:
            yield TrainingLoop(repeat.body, root, repeat, outer)


def _trains(tree: Block) -> bool:
    kinds = {event.kind for event in events_in(tree)}
    return {EventKind.BACKWARD, EventKind.STEP} <= kinds
