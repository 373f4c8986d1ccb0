"""The outline of a file: chunks, their owners and places, and what imports bind."""

from __future__ import annotations

import pytest

from nanlint.source.syntax.outline import MODULE, outline

TEXT = """
import torch
from torch import nn as layers


@decorated
def f(x):
    def inner():
        pass


class A:
    limit = 1

    def g(self):
        self.value = 2

    class B:
        async def h(self): ...


if True:
    def in_a_branch(): ...
"""


def test_functions_methods_class_bodies_and_the_module_are_chunks() -> None:
    assert set(outline(TEXT).chunks) == {"f", "A", "A.g", "A.B", "A.B.h", MODULE}


def test_a_chunk_knows_its_owner_and_its_lines() -> None:
    chunks = outline(TEXT).chunks
    assert {
        name: (chunk.owner, chunk.first_line, chunk.last_line) for name, chunk in chunks.items() if "." in name
    } == {
        "A.g": ("A", 15, 16),
        "A.B": ("A.B", 18, 19),
        "A.B.h": ("A.B", 19, 19),
    }


def test_decorators_belong_to_their_function() -> None:
    assert outline(TEXT).chunks["f"].first_line == 6


def test_a_name_defined_twice_keeps_every_definition() -> None:
    assert set(outline("def f(): ...\ndef f(): ...\n").chunks) == {"f", "f#2", MODULE}


@pytest.mark.parametrize(
    ("text", "imports"),
    [
        pytest.param("import torch", {"torch": "torch"}, id="module"),
        pytest.param("import torch.nn", {"torch": "torch"}, id="a module in a module binds the outer one"),
        pytest.param("import torch.nn as nn", {"nn": "torch.nn"}, id="alias"),
        pytest.param("from torch.nn import functional as F", {"F": "torch.nn.functional"}, id="from"),
        pytest.param("from . import a", {"a": ".a"}, id="relative"),
        pytest.param("from .b import a", {"a": ".b.a"}, id="relative module"),
        pytest.param("def f():\n    import math", {"math": "math"}, id="inside a function"),
        pytest.param(
            "try:\n    from apex.amp import autocast\nexcept ImportError:\n    from torch.amp import autocast",
            {"autocast": "torch.amp.autocast"},
            id="torch wins over another",
        ),
    ],
)
def test_imports_bind_local_names(text: str, imports: dict[str, str]) -> None:
    assert outline(text).imports == imports


def test_star_imports_are_remembered() -> None:
    assert outline("from torch.nn.functional import *").stars == ["torch.nn.functional"]


def test_what_is_no_python_raises() -> None:
    with pytest.raises(SyntaxError):
        outline("def f(:")
