"""A fix writes a tensor's method only where the value is a tensor: arrays of numpy's and Python numbers have none."""

from __future__ import annotations

import pytest

import nanlint
from nanlint.settings import Settings

HEAD = "import numpy as np\nimport torch\n\n\n"

NO_TENSORS = {
    "an annotated array": "def f(x: np.ndarray):\n    std = x.std(axis=0)\n    return torch.from_numpy((x - x.mean(axis=0)) / std)\n",
    "an array without annotation": "def f(x):\n    std = x.std(axis=0)\n    return torch.from_numpy((x - x.mean(axis=0)) / std)\n",
    "made by numpy": "def f(path):\n    x = np.load(path)\n    return torch.from_numpy(x / x.sum(axis=1, keepdims=True))\n",
    "an array out of a tensor": "def f(x: torch.Tensor):\n    y = x.detach().cpu().numpy()\n    return torch.from_numpy(y / y.sum())\n",
    "a list of numbers": "def f(x: list[float], mask: torch.Tensor):\n    return torch.tensor(x) / np.sum(x)\n",
}

TENSORS = {
    "annotated": "def f(x: torch.Tensor, mask: torch.Tensor):\n    return (x * mask).sum() / mask.sum()\n",
    "made by torch": "def f(x):\n    n = torch.linalg.norm(x, dim=1, keepdim=True)\n    return x / n\n",
    "a method that only tensors have": "def f(x, mask):\n    return x.masked_fill(mask, 0).sum() / mask.sum(dim=-1)\n",
    "given to torch elsewhere": "def f(x, mask):\n    y = torch.relu(mask)\n    return (x * mask).sum() / mask.sum() + y\n",
}


def fixes(source: str) -> list[str]:
    """The texts that the fixes of every finding write."""
    found = nanlint.check_source(source, settings=Settings(severity="info", preview=True))
    return [edit.text for finding in found if finding.fix is not None for edit in finding.fix.edits]


@pytest.mark.parametrize("name", NO_TENSORS)
def test_no_tensor_method_is_written_on_something_else(name: str) -> None:
    assert [text for text in fixes(HEAD + NO_TENSORS[name]) if "clamp" in text] == []


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_gets_its_fix(name: str) -> None:
    assert fixes(HEAD + TENSORS[name]) != []


def test_without_numpy_in_the_file_what_is_summed_is_a_tensor() -> None:
    assert fixes("import torch\n\n\ndef f(x, mask):\n    return (x * mask).sum() / mask.sum()\n") != []
