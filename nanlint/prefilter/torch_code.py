"""Which files are PyTorch code: asked of every file, so it costs next to nothing. All others no rule about code looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from nanlint.source.syntax.outline import Outline

_KIN = word_set("lightning accelerate deepspeed einops transformers diffusers timm fastai kornia")
_TORCH_AND_KIN = (b"torch", *(name.encode() for name in sorted(_KIN)))
# What a line of an import is made of that lists names.
_LISTING = bytes(byte for byte in range(128) if chr(byte).isalnum()) + b"_,()"
_OTHERS = word_set("numpy jax tensorflow mlx cupy paddle")
# What may stand between `import` and `*`.
_GAP = b" \t\f\\\r\n"


def is_about_torch(data: bytes) -> bool:
    """Whether a file names torch or what is built on it; a config may do so without an import."""
    return any(word in data for word in _TORCH_AND_KIN)


def may_use_torch(data: bytes) -> bool:
    """Whether a file may be PyTorch code, gated or not: one that only names torch, in texts and comments, is none."""
    return is_about_torch(data) and (any(_is_taken_in(word, data) for word in _TORCH_AND_KIN) or has_star_import(data))


def _is_taken_in(word: bytes, data: bytes) -> bool:
    """Whether `word` stands in an import, or in a line that may belong to one, or in an assignment to `torch`."""
    at = data.find(word)
    if at >= 0 and b"\n" not in data:  # a file of one line, or one that ends its lines otherwise
        return True
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        line = data[start : end if end >= 0 else len(data)].strip()
        if b"import" in line and not line.startswith((b">>>", b"#")):
            return True
        if not line.replace(b", ", b",").replace(b" as ", b"").translate(None, _LISTING):
            return True
        if line.startswith(b"torch") and line[5:].lstrip().startswith(b"="):
            return True
        at = data.find(word, end) if end >= 0 else -1
    return False


def is_of_another_library(outline: Outline) -> bool:
    """Whether a file computes with NumPy or the like, and imports nothing of torch: its `x.min()` is no tensor's."""
    roots = {dotted.partition(".")[0] for dotted in outline.imports.values()}
    last = {dotted.rpartition(".")[2] for dotted in outline.imports.values()}
    has_torch = any("torch" in word for word in roots | last) or not _KIN.isdisjoint(roots)
    return not (outline.stars or has_torch) and not _OTHERS.isdisjoint(roots)


def has_star_import(data: bytes) -> bool:
    """`from torch import *`: any name may be anything."""
    return any(rest.lstrip(_GAP).startswith(b"*") for rest in data.split(b"import")[1:])
