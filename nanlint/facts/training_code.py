"""Whether a backward passes through the code at hand, judged by what it is called.

Nothing in a function says that its caller trains with it. Models and losses are trained; metrics, schedulers, feature extractors
and data sets are not, and people name them so. A judgement, used where a finding is about the gradient alone.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nanlint.facts.naming import words_in
from nanlint.source.outline import MODULE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.source.outline import Chunk, Outline

_NOT_TRAINED = frozenset(
    {
        "metric", "metrics", "scheduler", "sampler", "sampling", "sample", "processor", "preprocess", "processing", "extractor",
        "dataset", "datasets", "augment", "augmentation", "augmentations", "evaluate", "evaluation", "evaluator", "eval", "diagnostics", "env",
        "planner", "planning", "optimizer", "plot", "visualize", "corrector", "collator", "collate", "pipeline", "detect", "detector",
        "init", "initialize", "reset", "stats", "statistics", "callback", "monitor", "score", "scores", "benchmark", "convert",
        "export", "calibrate", "calibration", "generate", "translate", "decode", "search", "fit", "suppression", "nms", "quantize", "prune",
        "pruning", "inference", "predict", "infer", "logging", "summary", "report", "load", "save", "test", "tests", "check",
        "update", "compute", "running", "tokenizer", "postprocess", "solver", "solve", "refine", "transform", "transforms", "audio", "loudness", "window", "extract", "extraction", "kmeans", "cluster", "clustering", "knn", "neighbor", "neighbors", "neighbour", "neighbours", "nearest", "retrieval", "match", "matching", "assigner", "candidates",
        "measure", "masker", "anomaly", "box", "boxes", "bbox", "bboxes", "clipped", "clipping", "bucket", "binning", "bucketize", "enhancement", "denoise", "rotary", "rope", "pretrained", "fbank", "spectrogram", "stft",
    }
)  # fmt: skip
# Of those, what a backward passes through at times: features of a signal, a rotation in another form.
_TRAINED_AT_TIMES = frozenset(
    {
        "transform", "transforms", "convert", "audio", "loudness", "spectrogram", "stft", "fbank", "extract", "extraction", "extractor",
        "postprocess", "enhancement",
    }
)  # fmt: skip
_TRAINED = frozenset(
    {
        "module", "loss", "losses", "model", "layer", "net", "network", "encoder", "decoder", "block", "pooling", "kernel",
        "criterion", "attention", "transformer", "embedding", "head", "policy", "actor", "critic", "backbone", "flow", "likelihood",
    }
)  # fmt: skip
_TRAINED_FUNCTIONS = frozenset(
    {
        "loss", "losses", "penalty", "regularize", "regularization", "divergence", "kl", "entropy", "forward", "training", "train",
        "nll", "prob", "objective", "cdist",
    }
)  # fmt: skip
_INFERENCE = frozenset(
    {"translate", "tracker", "generate", "generation", "inference", "infer", "predict", "predictor", "decode"}
)
# What is computed in float32 or by numpy whatever the model runs in: measurements, signals, data, and what draws or writes.
_NEVER_HALF = frozenset(
    {
        "metric", "metrics", "scheduler", "processor", "preprocess", "processing", "extractor", "dataset", "datasets", "augment", "augmentation",
        "augmentations", "evaluate", "evaluation", "evaluator", "eval", "diagnostics", "env", "planner", "planning", "optimizer", "plot", "visualize",
        "collator", "collate", "stats", "statistics", "callback", "monitor", "benchmark", "export", "logging", "summary", "report", "load",
        "save", "test", "tests", "tokenizer", "transform", "transforms", "audio", "loudness", "window", "fbank", "spectrogram", "stft", "mel",
    }
)  # fmt: skip
_TEST_FILE = re.compile(r"^(test_.*|.*_tests?|conftest|bench_.*|.*_bench|tensorboard.*|.*_tensorboard)\.(py|ipynb)$")
_METRICS = re.compile(r"metrics?(?![-_]?learning)|evaluat|(^|/)(eval|transforms|datasets?|data)(/[^/]*)?\.py$")
ASIDE = ("test_", "plot", "draw_", "print_", "visualize", "visualise", "imshow")
_DISTANCES = frozenset({"distance", "distances", "dist", "similarity", "norm"})
_PICKING = ("topk", "argmin", "argsort", "kthvalue")
_LOSSES = frozenset({"loss", "losses", "criterion"})
# Of boxes, which losses and detectors share.
_OVERLAPS = frozenset({"iou", "giou", "diou", "ciou", "overlap", "overlaps"})
_NETWORKS = ("torch.nn", "torch.autograd")
_BUILDING = ("init", "reset_parameters", "glorot", "xavier", "kaiming")


def is_building(function: str) -> bool:
    """Whether a function builds or initialises something, by its name: that is the same in every run, and fails at once if at all."""
    return any(word in function for word in _BUILDING)


def is_test(chunk: Chunk) -> bool:
    """Whether the chunk is a test, a method of a test class, or draws something: what breaks there breaks no run."""
    return chunk.name.startswith(ASIDE) or chunk.owner.rpartition(".")[2].startswith("Test")


def is_test_file(path: str) -> bool:
    """Whether a file holds tests by its name, measures speed on random numbers, or shows pictures: what breaks there breaks no run."""
    return _TEST_FILE.search(path.replace("\\", "/").rpartition("/")[2]) is not None


def measures(path: str) -> bool:
    """Whether a file holds metrics or data by its name or that of its folders: those are computed in float32."""
    return _METRICS.search(path.replace("\\", "/").lower()) is not None


def may_train(chunk: Chunk, outline: Outline) -> bool:
    """Whether a backward may pass through the chunk."""
    if chunk.name == MODULE or _calls_backward(chunk):
        return True
    bases = list(_bases(chunk.owner, outline))
    named = _words(chunk.owner.rpartition(".")[2], *bases)
    # A loss of negative sampling is a loss.
    is_loss = not named.isdisjoint(_LOSSES)
    if is_loss:
        named -= _NOT_TRAINED
    if not named.isdisjoint(_NOT_TRAINED) or "function" in _words(*bases):
        return False
    function = _words(chunk.name)
    if is_loss or not function.isdisjoint(_TRAINED_FUNCTIONS):
        return True
    if not function.isdisjoint(_NOT_TRAINED):
        return False
    if chunk.owner and (_has_forward(chunk.owner, outline) or not named.isdisjoint(_TRAINED)):
        return True
    return _is_about_networks(outline) or _takes_tensors(chunk)


def may_be_half(chunk: Chunk, outline: Outline) -> bool:
    """Whether the chunk is a part of a model that somebody may run in float16, in training or out of it."""
    if chunk.name == MODULE:
        return True
    # What a module makes beforehand is made in float32, and cast with it if at all.
    if chunk.name == "__init__" and _has_forward(chunk.owner, outline):
        return False
    if not _NEVER_HALF.isdisjoint(_words(chunk.name, chunk.owner.rpartition(".")[2], *_bases(chunk.owner, outline))):
        return False
    is_of_loss = not (_LOSSES | _OVERLAPS).isdisjoint(_words(chunk.name))
    return is_of_loss or _is_about_networks(outline) or _takes_tensors(chunk)


def could_train(chunk: Chunk, outline: Outline) -> bool:
    """As `may_train`, or a backward passes through such code at times: through features of a signal and conversions of rotations."""
    if may_train(chunk, outline):
        return True
    bases = _words(*_bases(chunk.owner, outline))
    words = {*_words(chunk.name, chunk.owner.rpartition(".")[2]), *bases}
    return "function" not in bases and words.isdisjoint(_NOT_TRAINED - _TRAINED_AT_TIMES)


def is_inference(chunk: Chunk) -> bool:
    """Whether the chunk uses a trained model, by its name or that of its class: a tracker, a translation, a search."""
    return not _INFERENCE.isdisjoint(_words(chunk.name, chunk.owner.rpartition(".")[2]))


def is_trained(chunk: Chunk, outline: Outline) -> bool:
    """Whether a backward passes through the chunk: it calls for one, or it is the forward of a model, a loss, a distance, a script.

    A function that a loss of the same file calls is a part of it.
    """
    if _calls_backward(chunk):
        return True
    if not may_train(chunk, outline):
        return False
    function, owner = _words(chunk.name), _words(chunk.owner.rpartition(".")[2])
    if chunk.name == MODULE or not (function.isdisjoint(_TRAINED_FUNCTIONS) and owner.isdisjoint(_LOSSES)):
        return True
    # A distance by itself may as well belong to an assignment or a search.
    if not function.isdisjoint(_DISTANCES) and _is_about_networks(outline) and not _serves_a_search(chunk, outline):
        return True
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
    return any(other.mentions(_PICKING) for other in users)


def is_one_step(chunk: Chunk) -> bool:
    """Whether the chunk is a function with a backward outside of loops: what it makes for itself does not outlive the step."""
    if not isinstance(chunk.node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not chunk.mentions(("backward",)):
        return False
    loops = [node for node in ast.walk(chunk.node) if isinstance(node, (ast.For, ast.AsyncFor, ast.While))]
    return not any(getattr(inner, "attr", "") == "backward" for loop in loops for inner in ast.walk(loop))


def _calls_backward(chunk: Chunk) -> bool:
    """`loss.backward()`, `accelerator.backward(loss)`; the backward of an autograd function is none."""
    return chunk.name != "backward" and chunk.mentions(("backward",))


def is_loss(chunk: Chunk) -> bool:
    """Whether the chunk or its class is called a loss."""
    return not _LOSSES.isdisjoint(_words(chunk.name, chunk.owner.rpartition(".")[2]))


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
