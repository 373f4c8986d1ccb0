"""Whether a backward passes through the code at hand, judged by what it is called.

Nothing in a function says that its caller trains with it. Models and losses are trained; metrics, schedulers, feature extractors
and data sets are not, and people name them so. A judgement, used where a finding is about the gradient alone.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanlint.analysis import name_hints as named
from nanlint.analysis.name_hints import words_in
from nanlint.source.syntax.outline import MODULE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.source.syntax.outline import Chunk, Outline

_TEST_FILE = re.compile(r"^(test_.*|.*_tests?|conftest|bench_.*|.*_bench|tensorboard.*|.*_tensorboard)\.(py|ipynb)$")
_NETWORKS = ("torch.nn", "torch.autograd")


def is_building(function: str) -> bool:
    """Whether a function builds or initialises something, by its name: that is the same in every run, and fails at once if at all."""
    return any(word in function for word in named.BUILDING)


def is_test_file(path: str) -> bool:
    """Whether a file holds tests by its name, measures speed on random numbers, or shows pictures: what breaks there breaks no run."""
    return _TEST_FILE.search(path.replace("\\", "/").rpartition("/")[2]) is not None


def tells(chunk: Chunk, outline: Outline) -> bool:
    """Whether its own name, its class or what it calls says whether the chunk is trained; else those who call it decide."""
    if _calls_backward(chunk) or (chunk.owner and _has_forward(chunk.owner, outline)):
        return True
    said = _words(chunk.name, chunk.owner.rpartition(".")[2], *_bases(chunk.owner, outline))
    known = (named.NOT_TRAINED, named.TRAINED, named.TRAINED_FUNCTIONS, named.LOSSES, named.INFERENCE, named.DISTANCES)
    return not all(said.isdisjoint(words) for words in known)


def may_train(chunk: Chunk, outline: Outline) -> bool:
    """Whether a backward may pass through the chunk."""
    if chunk.name == MODULE or _calls_backward(chunk) or f"{chunk.owner}.training_step" in outline.chunks:
        return True
    bases = list(_bases(chunk.owner, outline))
    words = _words(chunk.owner.rpartition(".")[2], *bases)
    # A loss of negative sampling is a loss.
    is_loss = not words.isdisjoint(named.LOSSES)
    if is_loss:
        words -= named.NOT_TRAINED
    if not words.isdisjoint(named.NOT_TRAINED) or "function" in _words(*bases):
        return False
    function = _words(chunk.name)
    if is_loss or not function.isdisjoint(named.TRAINED_FUNCTIONS):
        return True
    if not function.isdisjoint(named.NOT_TRAINED):
        return False
    if chunk.owner and (_has_forward(chunk.owner, outline) or not words.isdisjoint(named.TRAINED)):
        return True
    return _is_about_networks(outline) or _takes_tensors(chunk)


def is_inference(chunk: Chunk) -> bool:
    """Whether the chunk uses a trained model, by its name or that of its class: a tracker, a translation, a search."""
    return not named.INFERENCE.isdisjoint(_words(chunk.name, chunk.owner.rpartition(".")[2]))


def is_trained(chunk: Chunk, outline: Outline) -> bool:
    """Whether a backward passes through the chunk: it calls for one, or it is the forward of a model, a loss, a distance, a script.

    A function that a loss of the same file calls is a part of it.
    """
    if _calls_backward(chunk):
        return True
    if not may_train(chunk, outline):
        return False
    function, owner = _words(chunk.name), _words(chunk.owner.rpartition(".")[2])
    if chunk.name == MODULE or not (function.isdisjoint(named.TRAINED_FUNCTIONS) and owner.isdisjoint(named.LOSSES)):
        return True
    # A distance by itself may as well belong to an assignment or a search.
    if (
        not function.isdisjoint(named.DISTANCES)
        and _is_about_networks(outline)
        and not _serves_a_search(chunk, outline)
    ):
        return True
    return serves_a_loss(chunk, outline)


def serves_a_loss(chunk: Chunk, outline: Outline) -> bool:
    """Whether the chunk is a function that something called a loss uses, in the same file."""
    return not chunk.owner and any(
        is_loss(other) and other.mentions((chunk.name,)) for other in outline.chunks.values()
    )


def serves_a_forward(chunk: Chunk, outline: Outline) -> bool:
    """Whether the chunk is a function that the forward of a model of the same file calls; it may as well be one of a metric."""
    return not chunk.owner and any(
        other.owner and other.name == "forward" and other.mentions((chunk.name,)) and may_train(other, outline)
        for other in outline.chunks.values()
    )


def _serves_a_search(chunk: Chunk, outline: Outline) -> bool:
    """Whether a function of the file that uses the chunk picks the nearest."""
    users = (other for other in outline.chunks.values() if other is not chunk and other.mentions((chunk.name,)))
    return any(other.mentions(named.PICKING) for other in users)


def _calls_backward(chunk: Chunk) -> bool:
    """`loss.backward()`, `accelerator.backward(loss)`; the backward of an autograd function is none."""
    return chunk.name != "backward" and chunk.mentions(("backward",))


def is_loss(chunk: Chunk) -> bool:
    """Whether the chunk or its class is called a loss."""
    return not named.LOSSES.isdisjoint(_words(chunk.name, chunk.owner.rpartition(".")[2]))


def _words(*names: str) -> frozenset[str]:
    return frozenset[str]().union(*map(words_in, names))


def _bases(class_name: str, outline: Outline) -> Iterator[str]:
    """The last word of each class above, as far as this file tells."""
    waiting, seen = [class_name], set[str]()
    while waiting:
        name = waiting.pop()
        node = outline.classes.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        for base in node.bases:
            text = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
            yield text
            waiting.append(text)


def _has_forward(class_name: str, outline: Outline) -> bool:
    return any(f"{name}.forward" in outline.chunks for name in (class_name, *_bases(class_name, outline)))


def _takes_tensors(chunk: Chunk) -> bool:
    """Whether a function's parameters are tensors by their annotations."""
    if not isinstance(chunk.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    stated = [parameter.annotation for parameter in chunk.node.args.args if parameter.annotation is not None]
    return any("Tensor" in ast.dump(annotation) for annotation in stated)


def _is_about_networks(outline: Outline) -> bool:
    """Whether the file imports torch.nn, or has a class that is called as one."""
    if any(dotted.startswith(_NETWORKS) for dotted in outline.imports.values()):
        return True
    return any(f"{name}.forward" in outline.chunks for name in outline.classes)
