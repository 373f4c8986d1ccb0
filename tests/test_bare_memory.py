"""A parameter of bare memory that the project writes somewhere else than where it is made."""

from __future__ import annotations

import pytest

from nanlint.analysis.project.bare_memory import unwritten
from tests.analysed import graph_of

LAYER = """
class Scale(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gain = nn.Parameter(torch.Tensor(dim, dim))
"""
INIT = """
def start(module):
    nn.init.ones_(module.gain)
"""


def names_left(source: str, **others: str) -> list[str]:
    """The parameters of the main file that nothing writes."""
    _, modules = graph_of(**others, main=source)
    found = [
        unwritten(op, function)
        for function in modules["main"].all_functions()
        for op in function.ops
        if op.function == "torch.nn.Parameter"
    ]
    return [each.name for each in found if each is not None]


def test_what_nobody_writes_is_left() -> None:
    assert names_left(LAYER) == ["gain"]
    assert names_left(LAYER, script="from main import Scale\nlayer = Scale(3)\n") == ["gain"]
    assert names_left(LAYER + "        print(self)\n") == ["gain"]


@pytest.mark.parametrize(
    "line",
    [
        "nn.init.zeros_(self.gain)",
        "reset_gain(self.gain)",
        "self.apply(start)",
        "start(self)",
        "kaiming_init(self)",
        "DEFAULT_INITIALIZER(self.gain)",
    ],
)
def test_its_own_class_writes_it(line: str) -> None:
    source = f"from helpers import start\nfrom elsewhere import kaiming_init, reset_gain, DEFAULT_INITIALIZER\n{LAYER}        {line}\n"
    assert names_left(source, helpers=INIT) == []


def test_a_class_above_in_another_file_writes_it() -> None:
    above = """
class Base(nn.Module):
    def reset_parameters(self):
        nn.init.ones_(self.gain)
"""
    source = "from above import Base\n" + LAYER.replace("nn.Module", "Base")
    assert names_left(source, above=above) == []
    assert names_left(source, above=above.replace("gain", "bias")) == ["gain"]


def test_a_script_writes_it_by_a_function_for_all_modules() -> None:
    script = """
from main import Scale

def weights_init(m):
    if m.__class__.__name__ == "Scale" and hasattr(m, "gain"):
        nn.init.normal_(m.gain, 0.0, 0.02)

model = Scale(3)
model.apply(weights_init)
"""
    assert names_left(LAYER, script=script) == []


def test_another_class_hands_an_object_of_it_over() -> None:
    other = """
from main import Scale
from elsewhere import constant_init

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale(3)
        constant_init(self.scale, 1.0)
"""
    assert names_left(LAYER, net=other) == []
    assert names_left(LAYER, net=other.replace("constant_init(self.scale, 1.0)", "print(self.scale)")) == ["gain"]
