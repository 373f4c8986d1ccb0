"""How a value comes to be exactly 0, what an operation makes of it, and whether a backward passes through the code at hand."""

from __future__ import annotations

import pytest

from tests.revealing import facts_about, revealed

HEADER = "def f(x: torch.Tensor, y: torch.Tensor, unknown):\n    "


def zeros(body: str) -> list[bool]:
    return revealed(HEADER + body, lambda facts, node: facts.reaches_zero(node))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("reveal(x.pow(2).sum())", id="sum of squares"),
        pytest.param("reveal(x.clamp(min=0))", id="clamp at 0"),
        pytest.param("reveal(x**2 + y**2)", id="two squares"),
        pytest.param("reveal(x.softmax(-1))", id="share"),
        pytest.param("reveal(x.abs() * x.exp())", id="product with something that is 0"),
        pytest.param("energy = x.pow(2).mean()\n    reveal(energy)", id="through a name"),
        pytest.param("reveal(x.masked_fill(y > 0, -math.inf).exp())", id="masked scores"),
    ],
)
def test_a_zero_of_ordinary_operands_is_seen(body: str) -> None:
    assert zeros(body) == [True]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("reveal(x.exp())", id="underflow"),
        pytest.param("reveal(x.exp().sum())", id="sum of what underflows"),
        pytest.param("reveal(x.pow(2) + 1e-8)", id="eps"),
        pytest.param("reveal(x.pow(2) + (y > 0) * 1e-16)", id="eps where a mask says so"),
        pytest.param("reveal(x.abs().clamp(min=unknown))", id="bound that is a setting"),
        pytest.param("reveal(x**2 + unknown**2)", id="square of a setting"),
        pytest.param("safe_x = x.abs()\n    reveal(safe_x)", id="called safe"),
        pytest.param("size = x.abs()\n    reveal(size[size > 0])", id="selected"),
        pytest.param("torch._check(x.min() > 0)\n    torch._check((x > 0).all())\n    reveal(x)", id="checked"),
        pytest.param("reveal(len(unknown) ** 2)", id="Python number"),
    ],
)
def test_a_zero_that_takes_an_underflow_or_a_guard_that_failed_is_none(body: str) -> None:
    assert zeros(body) == [False]


@pytest.mark.parametrize(
    ("body", "cut"),
    [
        pytest.param("reveal(x.sqrt()).mean().item()", True, id="item"),
        pytest.param("y = torch.maximum(y, reveal(x.sqrt())).detach()", True, id="detached further out"),
        pytest.param("y = (y * reveal(x.sqrt())[:, None]).detach()", True, id="a part of it"),
        pytest.param("y = y[reveal(x.sqrt())].detach()", False, id="as an index"),
        pytest.param("z = reveal(x.sqrt()) + y\n    z = z * 2\n    return z.argmin()", True, id="through names"),
        pytest.param("z = reveal(x.sqrt()) + y\n    print(z)\n    return z", False, id="one of its reads goes on"),
        pytest.param(
            "z = y\n    if flag:\n        z = reveal(x.sqrt())\n        print(z)\n    return z", False, id="paths meet"
        ),
        pytest.param(
            "z = reveal(x.sqrt()) / y\n    with torch.no_grad():\n        return z + 1", True, id="under no_grad"
        ),
        pytest.param("y = float(reveal(x.sqrt()))", True, id="float"),
        pytest.param("assert reveal(x.sqrt()) > 0", True, id="assertion"),
        pytest.param("y = reveal(x.sqrt()).float()", False, id="cast"),
        pytest.param("return reveal(x.sqrt())", False, id="returned"),
    ],
)
def test_what_goes_on_without_its_gradient_is_cut_off(body: str, cut: bool) -> None:  # noqa: FBT001 - a table of cases
    assert revealed(HEADER + body, lambda facts, node: facts.is_cut_off(node)) == [cut]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("reveal(x.grad)", id="gradient"),
        pytest.param("reveal(unknown.data ** 2)", id="data"),
        pytest.param("b, n = x.shape\n    reveal(torch.arange(n) / n)", id="positions"),
        pytest.param("reveal(x.detach().permute(0, 2, 1).to(x.device))", id="moved"),
        pytest.param("with torch.no_grad():\n        y, _ = unknown(x)\n    reveal(y + 1)", id="made under no_grad"),
    ],
)
def test_what_no_gradient_passes_through_is_detached(body: str) -> None:
    assert revealed(HEADER + body, lambda facts, node: facts.value_of(node).detached) == [True]


@pytest.mark.parametrize(
    ("text", "chunk", "says"),
    [
        pytest.param("class M(nn.Module):\n    def forward(self, x): pass", "M.forward", (True, True), id="forward"),
        pytest.param("def my_loss(x): pass", "my_loss", (True, True), id="loss"),
        pytest.param("def helper(x): pass", "helper", (True, False), id="helper beside a network"),
        pytest.param("def compute_metrics(x): pass", "compute_metrics", (False, False), id="metrics"),
        pytest.param("class S(BaseScheduler):\n    def step(self): pass", "S.step", (False, False), id="scheduler"),
        pytest.param(
            "class A(torch.autograd.Function):\n    def forward(ctx, x): pass",
            "A.forward",
            (False, False),
            id="own backward",
        ),
        pytest.param("def test_root(x): pass", "test_root", (False, False), id="test"),
    ],
)
def test_names_say_whether_code_is_trained(text: str, chunk: str, says: tuple[bool, bool]) -> None:
    facts = facts_about(text, chunk)
    assert (facts.may_train(), facts.is_trained()) == says
