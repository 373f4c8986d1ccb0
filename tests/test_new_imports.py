"""A fix that needs torch imports it, once and behind the other imports, where a file has parts of torch only."""

from __future__ import annotations

import ast
import json

import pytest

from nanlint.engine.checker import Checker
from nanlint.engine.fixing.apply_fixes import fix_text
from nanlint.engine.fixing.fix_paths import Document
from nanlint.engine.fixing.fix_paths import fixed as fixed_document
from nanlint.model import Applicability
from nanlint.settings import Settings
from nanlint.testing import findings_in

FUNCTION = """

def distance(x: Tensor, y: Tensor) -> Tensor:
    return (x - y).pow(2).sum(-1).sqrt()
"""
MENDED = "    return torch.linalg.vector_norm(x - y, dim=-1)\n"


def fixed(text: str) -> str:
    return fix_text(
        text,
        lambda draft: findings_in(draft, "NAN301"),
        lambda fix: fix.applicability is Applicability.SAFE,
        parses=lambda draft: bool(ast.parse(draft)),
    ).text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from torch import Tensor\n", "from torch import Tensor\nimport torch\n", id="behind the only one"
        ),
        pytest.param(
            '"""Why."""\nfrom __future__ import annotations\n\nimport math\nfrom torch import Tensor\n\nEPS = 1\n',
            '"""Why."""\nfrom __future__ import annotations\n\nimport math\nfrom torch import Tensor\nimport torch\n\nEPS = 1\n',
            id="behind docstring and __future__",
        ),
        pytest.param(
            "from torch import nn, Tensor\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n",
            "from torch import nn, Tensor\nfrom typing import TYPE_CHECKING\nimport torch\nif TYPE_CHECKING:\n    import torch\n",
            id="not among imports for types only",
        ),
        pytest.param("import torch as th\nfrom torch import Tensor\n", "", id="none where torch has another name"),
        pytest.param("import torch\nfrom torch import Tensor\n", "", id="none where torch is there"),
    ],
)
def test_the_import_stands(before: str, after: str) -> None:
    mended = MENDED.replace("torch", "th") if "as th" in before else MENDED
    expected = (after or before) + FUNCTION.rpartition("    return")[0] + mended
    assert fixed(before + FUNCTION) == expected


def test_two_fixes_share_one_import() -> None:
    text = fixed("from torch import Tensor\n" + FUNCTION + FUNCTION.replace("distance", "other"))
    assert text.count("import torch\n") == 1
    assert text.count("torch.linalg.vector_norm") == 2


def test_windows_line_ends_are_kept() -> None:
    text = fixed(("from torch import Tensor\n" + FUNCTION).replace("\n", "\r\n"))
    assert "import torch\r\n" in text
    assert "\n" not in text.replace("\r\n", "")


def test_a_name_that_is_taken_is_not_imported() -> None:
    source = "from torch import Tensor\n\ndef torch():\n    return 1\n" + FUNCTION
    assert "import torch\n" not in fixed(source)


# -- whole documents ---------------------------------------------------------------------------------------------------


def document(path: str, data: bytes) -> bytes:
    """The bytes of the document after its safe fixes."""
    ruleset = Checker(gated=True).ruleset(Settings(select=("NAN301",), severity="info"))
    return fixed_document(Document(path, data), ruleset, unsafe=False).data


def cells(*sources: str) -> list[str]:
    """The sources of a notebook's cells after its safe fixes."""
    made: list[dict[str, object]] = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for source in sources
    ]
    notebook = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    written = json.loads(document("a.ipynb", json.dumps(notebook).encode()))
    return ["".join(cell["source"]) for cell in written["cells"]]


DISTANCE = FUNCTION.strip("\n")
MENDED_DISTANCE = DISTANCE.rpartition("    return")[0] + MENDED.rstrip("\n")


def test_a_notebook_gets_the_import_in_the_cell_with_its_imports() -> None:
    given = "from torch import Tensor", "x = 1", DISTANCE
    assert cells(*given) == ["from torch import Tensor\nimport torch", "x = 1", MENDED_DISTANCE]


def test_a_notebook_gets_one_import_for_two_cells() -> None:
    given = "import math\nfrom torch import Tensor\n", DISTANCE, DISTANCE.replace("distance", "other")
    found = cells(*given)
    assert found == [
        "import math\nfrom torch import Tensor\nimport torch\n",
        MENDED_DISTANCE,
        MENDED_DISTANCE.replace("distance", "other"),
    ]


def test_a_notebook_gets_the_import_below_its_magics_and_above_its_use() -> None:
    found = cells("%load_ext autoreload\nimport os", "from torch import Tensor", DISTANCE)
    assert found == ["%load_ext autoreload\nimport os", "from torch import Tensor\nimport torch", MENDED_DISTANCE]


@pytest.mark.parametrize(
    "imported", ["import torch", "%matplotlib inline\nimport torch"], ids=["alone", "with a magic"]
)
def test_a_notebook_whose_other_cell_imports_torch_gets_none(imported: str) -> None:
    assert cells(imported, "from torch import Tensor", DISTANCE) == [
        imported,
        "from torch import Tensor",
        MENDED_DISTANCE,
    ]


def test_a_notebook_uses_the_name_that_a_cell_has_for_a_module() -> None:
    found = cells("import torch as th", "from torch import Tensor", DISTANCE)
    assert found[2] == MENDED_DISTANCE.replace("torch.linalg", "th.linalg")


SOURCE = "from torch import Tensor\n" + FUNCTION
FIXED = "from torch import Tensor\nimport torch\n" + FUNCTION.rpartition("    return")[0] + MENDED


@pytest.mark.parametrize(
    ("before", "encoding"),
    [
        pytest.param("\ufeff", "utf-8", id="BOM"),
        pytest.param("# -*- coding: latin-1 -*-\n# Größe\n", "latin-1", id="encoding cookie"),
        pytest.param("#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\n# 5 €\n", "cp1252", id="cookie of vim"),
        pytest.param("# 長さ\n", "utf-8", id="letters beyond ASCII"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["line feeds", "Windows line ends", "carriage returns"])
def test_the_bytes_around_an_import_stay(before: str, encoding: str, newline: str) -> None:
    old, new = ((before + text).replace("\n", newline).encode(encoding) for text in (SOURCE, FIXED))
    assert document("a.py", old) == new


def test_tabs_stay_tabs() -> None:
    old, new = (text.replace("    ", "\t").encode() for text in (SOURCE, FIXED))
    assert document("a.py", old) == new


def test_no_import_is_put_inside_a_block() -> None:
    text = "try:\n    from torch import Tensor\nexcept ImportError:\n    Tensor = object\n" + FUNCTION
    assert document("a.py", text.encode()) == text.encode()


def test_a_file_that_has_the_module_of_functions_uses_its_name_for_it() -> None:
    text = "import torch\nimport torch.nn.functional as F\n\n\ndef f(x: torch.Tensor):\n    return torch.log(torch.sigmoid(x))\n"
    fixed_text = fix_text(
        text,
        lambda draft: findings_in(draft, "NAN110"),
        lambda fix: fix.applicability is Applicability.SAFE,
        parses=lambda draft: bool(ast.parse(draft)),
    ).text
    assert fixed_text == text.replace("torch.log(torch.sigmoid(x))", "F.logsigmoid(x)")
