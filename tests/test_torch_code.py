"""Which files are PyTorch code: by what they import."""

from __future__ import annotations

import pytest

from nanlint.api import check_source
from nanlint.prefilter.torch_code import is_of_another_library, may_use_torch
from nanlint.source.syntax.outline import outline

DIVISION = "def scaled(image):\n    return image / image.abs().max()\n"


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        pytest.param("import torch\n", True, id="an import"),
        pytest.param("    from torch import nn\n", True, id="an import in a function"),
        pytest.param("from .common import (\n    nn,\n    torch,\n)\n", True, id="an import of several lines"),
        pytest.param("from .common import (\n    a as torch_a, b)\n", True, id="several names in a line"),
        pytest.param("try: import torch\nexcept: pass\n", True, id="behind a colon"),
        pytest.param('torch = importlib.import_module("torch")\n', True, id="import_module"),
        pytest.param('torch = lazy("torch")\n', True, id="an assignment"),
        pytest.param("from .layers import *\n# as torch does\n", True, id="nobody knows what a star brings"),
        pytest.param('from transformers import Trainer\nargs(torch_dtype="auto")\n', True, id="built on torch"),
        pytest.param("import torch\rx = 1\r", True, id="lines that end otherwise"),
        pytest.param('"""Gives a torch.Tensor."""\nimport numpy\n', False, id="in a docstring"),
        pytest.param('"""\n>>> import torch\n"""\nimport numpy\n', False, id="in an example of a docstring"),
        pytest.param("# import torch\nx = 1\n", False, id="in a comment"),
        pytest.param("from transformers import Trainer\n", True, id="a library on torch alone"),
        pytest.param("from sklearn import svm\n", False, id="nothing names torch"),
    ],
)
def test_code_that_uses_torch_takes_it_in(text: str, is_code: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert may_use_torch(text.encode()) is is_code


def test_a_file_that_only_speaks_of_torch_has_no_findings() -> None:
    assert [finding.code for finding in check_source(f"import torch\n{DIVISION}")] == ["NAN101"]
    assert not check_source(f"# as torch does\n{DIVISION}")


@pytest.mark.parametrize(
    ("imports", "is_another"),
    [
        pytest.param("import numpy as np", True, id="numpy alone"),
        pytest.param("import jax.numpy as jnp\nfrom .backend import norm", True, id="jax and a module of its own"),
        pytest.param("import numpy as np\nimport torch", False, id="torch, too"),
        pytest.param("import numpy as np\nfrom torch_scatter import scatter", False, id="something made for torch"),
        pytest.param("import numpy as np\nfrom .backend import torch", False, id="torch from elsewhere"),
        pytest.param("import numpy as np\nfrom .layers import *", False, id="nobody knows what a star brings"),
        pytest.param("from .layers import norm", False, id="nothing of either"),
    ],
)
def test_code_on_arrays_of_another_library_is_known_by_its_imports(imports: str, is_another: bool) -> None:  # noqa: FBT001
    assert is_of_another_library(outline(imports)) is is_another


def test_a_file_about_arrays_of_another_library_has_no_findings() -> None:
    assert not check_source(f"import numpy as np  # not torch\n{DIVISION}")
