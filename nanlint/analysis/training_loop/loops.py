"""The training loops of a file: every loop, or step method, that makes a backward and a step, with the ways through it.

The innermost loop that holds both counts; a function that holds both and no such loop is a step method, called once for
each batch. A function that another one of the file calls is looked at where it is called, and not by itself.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from nanlint.analysis.project.spelled_names import spelled_name
from nanlint.analysis.training_loop.event_tree_parts import Block, Branch, Repeat, branches_in, events_in, repeats_in
from nanlint.analysis.training_loop.events import Event, EventKind
from nanlint.analysis.training_loop.functions import Functions
from nanlint.analysis.training_loop.paths import Path, paths_through
from nanlint.analysis.training_loop.runs import saving
from nanlint.analysis.training_loop.tree import TreeBuilder
from nanlint.source.syntax.file_imports import TORCH, line_for_torch
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.analysis.project.index import Function
    from nanlint.analysis.project.whole import FileInProject

_STARTS = word_set("backward manual_backward")
_CLIPS = word_set("clip_grad_norm_ clip_grad_value_")
# Callers of callers are looked for so far.
_DEEPEST = 3
_DISTRIBUTED = word_set("""
    DistributedDataParallel DDP FullyShardedDataParallel FSDP fully_shard init_process_group DistributedSampler no_sync
    world_size
""")


@dataclass(eq=False)
class TrainingLoop:
    """One round of training: the body of a loop or of a step method."""

    body: Block
    function: Function
    """The function from which it was read."""
    functions: Functions
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

    @cached_property
    def plain_paths(self) -> tuple[Path, ...]:
        """The ways on which no framework has a part; () if each way with a backward has one."""
        plain = tuple(path for path in self.paths if not path.framework)
        return plain if any(path.places(EventKind.BACKWARD) for path in plain) else ()

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
        return [*event.conditions, *(found.code.text_of(found.node) for found in around)]

    @cached_property
    def checks(self) -> list[Branch]:
        """The conditions that ask whether a loss, a gradient, a norm or a parameter is finite, here and in the loop around."""
        branches = (*branches_in(self.body), *branches_in(self.outer))
        return [found for found in branches if found.check is not None and found.check.is_about_training]

    @cached_property
    def is_scaled(self) -> bool:
        """Whether a GradScaler makes steps, on some path at least."""
        return any(event.is_scaled for event in self.of(EventKind.STEP, EventKind.BACKWARD))

    @cached_property
    def is_framework(self) -> bool:
        """Whether Accelerate, Fabric, Lightning or DeepSpeed makes the backward or the step, whatever way is taken."""
        return bool(self.frameworks) and not self.plain_paths

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """The frameworks that make a backward, a clip or a step on some way, by their names in the loop."""
        return frozenset(path.framework for path in self.paths) - {""}

    @cached_property
    def optimizers(self) -> frozenset[str]:
        """The optimizers that make steps, by their names in the loop."""
        return frozenset(event.target for event in self.of(EventKind.STEP))

    # -- the file around it -------------------------------------------------------------------------------------

    def file_mentions(self, *words: str) -> bool:
        """Whether one of these names or attributes occurs anywhere in the file."""
        return not self.functions.words.isdisjoint(words)

    def is_distributed(self) -> bool:
        """Whether the file trains with several processes, by the words it uses."""
        return not self.functions.words.isdisjoint(_DISTRIBUTED)

    def name_for(self, event: Event, full: str) -> str | None:
        """How the function of an event can spell a name of torch: `nn.utils.clip_grad_norm_`; None if it cannot."""
        if event.is_elsewhere:
            return None
        can_import = line_for_torch(self.functions.tree)
        return spelled_name(full, event.code.function) or (full if can_import and full.startswith(TORCH) else None)

    def model_of(self, step: Event) -> str:
        """The model whose parameters the optimizer of a step was made with, where that is written in its function; "" elsewhere."""
        function = step.call.func if step.call is not None else None
        made = step.code.made_by(function.value) if isinstance(function, ast.Attribute) else None
        given = made.node.args[0] if made is not None and isinstance(made.node, ast.Call) and made.node.args else None
        is_here = made is not None and made.node in step.code.parents
        if not is_here or not isinstance(given, ast.Call) or given.args or not isinstance(given.func, ast.Attribute):
            return ""
        is_plain = given.func.attr == "parameters" and isinstance(given.func.value, ast.Name | ast.Attribute)
        return step.code.text_of(given.func.value) if is_plain else ""

    def is_told_where(self, save: Event) -> bool:
        """Whether a save is in a function that is told where to write."""
        node = save.argument("f")
        return save.code.function is not self.function and node is not None and saving.reads_parameter(node, save.code)


def training_loops(file: FileInProject) -> list[TrainingLoop]:
    """Every training loop of the file, in reading order of the functions that they are read from."""
    if not any(word in file.module.text for word in _STARTS):
        return []
    functions = Functions(file)
    builder = TreeBuilder(functions)
    trees: dict[Function, Block] = {}
    for function in _callers_first(functions):
        if function not in builder.followed:
            trees[function] = builder.tree_of(function)
    return [
        loop
        for function, tree in trees.items()
        if function not in builder.followed and not _is_test(function)
        for loop in _loops_in(tree, function, functions)
    ]


def steps_without_backward(file: FileInProject) -> list[TrainingLoop]:
    """Every function that clips gradients and makes a step, and leaves the backward to its caller."""
    if not any(word in file.module.text for word in _CLIPS):
        return []
    functions = Functions(file)
    builder, found = TreeBuilder(functions), list[TrainingLoop]()
    for function in functions.of_file:
        words = functions.code_of(function).words
        if not words.isdisjoint(_CLIPS) and words.isdisjoint(_STARTS) and not _is_test(function):
            found.append(TrainingLoop(builder.tree_of(function), function, functions))
    return found


def _callers_first(functions: Functions) -> list[Function]:
    """The functions with a backward and those that may call them, those that nobody calls first."""
    words = {function: functions.code_of(function).words for function in functions.of_file}
    starts = [function for function in functions.of_file if not words[function].isdisjoint(_STARTS)]
    levels, seen = [starts], set(starts)
    for _ in range(_DEEPEST):
        called = [other for other in levels[-1] if other is not functions.module.body]
        # The file itself only starts it all.
        others = [each for each in words if each not in seen and each.node is not functions.tree]
        found = [each for each in others if any(_calls(each, other, functions) for other in called)]
        seen.update(found)
        levels.append(found)
    ordered = [function for level in reversed(levels) for function in level]
    # Among the starts themselves, one may call another.
    count = {each: sum(_calls(each, other, functions) for other in starts if other is not each) for each in ordered}
    return sorted(ordered, key=lambda function: count[function], reverse=True)


def _calls(function: Function, other: Function, functions: Functions) -> bool:
    """Whether a function calls another one, or names one of the file or of its own class: `self.train_step(...)`."""
    is_near = other.owner is None or other.owner is function.owner
    is_named = is_near and other.name in functions.code_of(function).words
    # What a test makes of a class is no training; the class is looked at by itself.
    return is_named or (not _is_test(function) and other in functions.called_by(function))


def _is_test(function: Function) -> bool:
    owner = function.owner.name if function.owner is not None else ""
    return function.name.startswith("test_") or owner.startswith("Test")


def _loops_in(tree: Block, function: Function, functions: Functions) -> Iterator[TrainingLoop]:
    """The innermost loops that hold a backward and a step; the function itself if it holds them and no loop does."""
    found = [TrainingLoop(repeat.body, function, functions, repeat, outer) for repeat, outer in _innermost(tree, ())]
    if found:
        yield from found
    elif _trains(tree):
        yield TrainingLoop(tree, function, functions)


def _innermost(tree: Block, outer: Block) -> Iterator[tuple[Repeat, Block]]:
    for repeat in repeats_in(tree):
        if _trains(repeat.body):
            inner = list(_innermost(repeat.body, repeat.body))
            yield from inner or [(repeat, outer)]


def _trains(tree: Block) -> bool:
    """Whether a backward and a step are made; where both are in another file, that is told of there."""
    events = [event for event in events_in(tree) if event.kind in {EventKind.BACKWARD, EventKind.STEP}]
    return len({event.kind for event in events}) > 1 and not all(event.is_elsewhere for event in events)
