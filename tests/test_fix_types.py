"""A fix is written for the type that the value has: no tensor's method on an array of numpy's or on a number."""

from __future__ import annotations

import pytest

from tests.fixing import fixed

HEAD = "import numpy as np\nimport torch\n\n\n"

ARRAYS = {
    "annotated": "def f(x: np.ndarray):\n    std = x.std(axis=0)\n    return (x - x.mean(axis=0)) / std\n",
    "annotated in a text": "def f(x: 'np.ndarray'):\n    return x / x.std()\n",
    "of typing": "def f(x: npt.NDArray[np.float32]):\n    return x / x.std()\n",
    "of a tensor": "def f(t: torch.Tensor):\n    x = t.numpy()\n    return x / x.std()\n",
    "made by numpy": "def f(t):\n    x = np.asarray(t)\n    return x / x.sum()\n",
    "a norm of numpy's": "def f(x: np.ndarray):\n    return x / np.linalg.norm(x)\n",
    "handed to numpy": "def f(x):\n    y = np.abs(x)\n    return y, x / x.std()\n",
    "with numpy's keyword": "def f(x):\n    return x / x.std(keepdims=True)\n",
    "converted": "def f(x):\n    x = x.astype('float32')\n    return torch.from_numpy(x / x.std())\n",
    "under a tensor": "def f(t: torch.Tensor, x: np.ndarray):\n    s = x.std()\n    return t / s\n",
    "a part of one": "def f(x: np.ndarray):\n    part = x[:, 0] * 2\n    return part / part.std()\n",
}


@pytest.mark.parametrize("text", ARRAYS.values(), ids=ARRAYS.keys())
def test_an_array_gets_no_fix(text: str) -> None:
    assert fixed(HEAD + text, "NAN101").text == HEAD + text


def test_a_number_is_bounded_as_a_number() -> None:
    text = HEAD + "def f(x: torch.Tensor):\n    total = x.abs().sum().item()\n    return x / total\n"
    assert fixed(text, "NAN101").text == text.replace("/ total", "/ max(total, 1e-4)")


TENSORS = {
    "annotated": "def f(x: torch.Tensor):\n    return x / x.std()\n",
    "made of an array": "def f(a: np.ndarray):\n    x = torch.from_numpy(a)\n    return x / x.std()\n",
    "handed to torch": "def f(x):\n    y = torch.abs(x)\n    return y, x / x.std()\n",
}


@pytest.mark.parametrize("text", TENSORS.values(), ids=TENSORS.keys())
def test_a_tensor_keeps_its_fix(text: str) -> None:
    assert ".clamp_min(" in fixed(HEAD + text, "NAN101").text
