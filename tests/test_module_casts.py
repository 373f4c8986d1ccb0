"""The dtype of the weights that an optimizer is given."""

from __future__ import annotations

import pytest

from nanlint.analysis.op_graph import name_of
from nanlint.analysis.patterns.module_casts import dtype_of_parameters
from nanlint.engine.hazard_rules import file_in_project

BEFORE = "import torch\nfrom torch import nn\n"
ADAM = "torch.optim.Adam"


def dtype_in(code: str) -> str:
    file = file_in_project("<test>", f"{BEFORE}{code}")
    assert file is not None
    (found,) = [(op, function) for function in file.functions for op in function.ops if name_of(op) == ADAM]
    op, function = found
    return dtype_of_parameters(op.operands["0"], op, function)


@pytest.mark.parametrize(
    ("made", "dtype"),
    [
        pytest.param("model = nn.Linear(4, 4)", "", id="as it is made"),
        pytest.param("model = nn.Linear(4, 4)\nmodel.half()", "float16", id="cast in place"),
        pytest.param("model = nn.Linear(4, 4)\nmodel.half()\nmodel.to(torch.bfloat16)", "bfloat16", id="cast twice"),
        pytest.param("model = nn.Linear(4, 4).half()", "float16", id="cast where it is made"),
        pytest.param("model = nn.Linear(4, 4).half()\nmodel.to('cuda')", "float16", id="moved afterwards"),
        pytest.param("model = nn.Linear(4, 4).half()\nmodel.float()", "float32", id="cast back"),
        pytest.param("model = nn.Linear(4, 4).to(device='cuda', dtype=torch.float16)", "float16", id="moved and cast"),
        pytest.param("model = load('x', torch_dtype=torch.float16)", "float16", id="loaded in half"),
        pytest.param("model = load('x')\nmodel.cuda().half().train()", "float16", id="cast in a chain"),
    ],
)
@pytest.mark.parametrize(
    "params",
    [
        "model.parameters()",
        "[p for p in model.parameters() if p.requires_grad]",
        "filter(lambda p: p.requires_grad, model.parameters())",
        "[{'params': model.parameters(), 'lr': 1e-3}]",
    ],
)
def test_the_weights_have_the_dtype_that_the_module_was_cast_to(made: str, dtype: str, params: str) -> None:
    assert dtype_in(f"{made}\noptimizer = torch.optim.Adam({params})\n") == dtype


METHODS = """
class Trainer:
    def __init__(self):
        self.model = {made}
    def prepare(self):
        self.model.{cast}()
    def configure(self):
        return torch.optim.Adam(self.model.parameters())
"""


@pytest.mark.parametrize(
    ("made", "cast", "dtype"),
    [
        ("nn.Linear(4, 4)", "half", "float16"),
        ("nn.Linear(4, 4).half()", "eval", "float16"),
        ("nn.Linear(4, 4)", "eval", ""),
    ],
)
def test_a_module_is_cast_in_any_method_of_its_class(made: str, cast: str, dtype: str) -> None:
    assert dtype_in(METHODS.format(made=made, cast=cast)) == dtype
