"""What needs ask beyond words: who made an operand, on which side something is, in which form an operation is written."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from nanlint.api import check_source
from nanlint.engine.interests import carrying_words, interests
from nanlint.rule import Need, Rule
from nanlint.settings import Settings
from nanlint.source.gate import Gate, Interest
from nanlint.source.outline import outline


def kept(code: str, operation: str, **asked: Any) -> list[str]:
    """The functions of `code` with an operation of which all that is asked is true."""
    interest = Interest(frozenset({operation}), **asked)
    return Gate([interest], carrying_words()).chunks(outline(dedent(code)))


def is_kept(body: str, operation: str, **asked: Any) -> bool:
    """Whether a function of x, y and eps is kept for its body."""
    code = f"import torch\nclass A:\n  def f(self, x: Tensor, y: Tensor, eps: float = 1e-6):\n    {body}"
    return bool(kept(code, operation, **asked))


SUM = frozenset({"sum"})


@pytest.mark.parametrize(
    ("body", "is_made_by_it"),
    [
        ("return y / x.sum()", True),
        ("n = x.sum().view(-1)[0]\n    return y / (2 * n)", True),
        ("return y / (x.sum() + y.sum()).sqrt()", True),
        ("return y / torch.sqrt(torch.sum(x))", True),
        ("return y / x.sum().clamp(min=1)", False),
        ("return y / torch.where(x > 0, x.sum(), y)", False),
        ("return y / (1 - x.sum())", False),
        ("return y / sum(x)", False),
        ("return y / np.linalg.sum(x)", False),
        ("return y.sum() / x", False),
    ],
)
def test_an_operand_is_followed_to_its_maker(body: str, is_made_by_it: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, "/", made_by=SUM) is is_made_by_it


def test_a_helper_of_the_file_makes_what_it_returns() -> None:
    code = """
        import torch
        def total(v): return v.sum()
        def f(x, y): return y / total(x)
        def g(x, y): return y / other(x)
        """
    assert kept(code, "/", made_by=SUM) == ["f"]


def test_a_name_of_pythons_own_may_be_imported_over() -> None:
    assert kept("from torch import sum\ndef f(x, y):\n    return y / sum(x)", "/", made_by=SUM) == ["f"]
    assert kept("from torch import *\ndef f(x, y):\n    return y / sum(x)", "/", made_by=SUM) == ["f"]


def test_what_is_divided_has_a_maker_too() -> None:
    assert is_kept("e = x.exp()\n    return e / y", "/", above=frozenset({"exp"}))
    assert not is_kept("e = x.exp()\n    return y / e", "/", above=frozenset({"exp"}))


@pytest.mark.parametrize(
    ("body", "is_raised"),
    [
        ("return torch.sqrt(x + 1e-6)", True),
        ("return (x + 1e-6).sqrt()", True),
        ("v = x.mean() + eps\n    return v.sqrt()", True),
        ("return x.clamp(min=1e-4).sqrt()", True),
        ("return torch.clamp(x, 1e-4).sqrt()", True),
        ("return (x + 1e-6).view(-1)[0].sqrt()", True),
        ("return torch.hypot(x + 1e-6, y).sqrt()", False),
        ("return x.sqrt()", False),
        ("return (x + 1).sqrt()", False),
        ("return (x + 1e-12).sqrt()", False),
        ("return (x + y).sqrt()", False),
        ("return x.clamp(0, 1).sqrt()", False),
        ("return x.clamp(min=eps).sqrt()", False),
        ("v = x + 1e-6\n    if y: v = x\n    return v.sqrt()", False),
        ("v = x + 1e-6\n    v.mul_(y)\n    return v.sqrt()", False),
        ("eps = 0.0\n    return (x + eps).sqrt()", False),
        ("eps = y.abs()\n    return (x + eps).sqrt()", False),
        ("return (x + self.eps).sqrt()", False),
    ],
)
def test_an_eps_under_the_root_is_seen(body: str, is_raised: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, "sqrt", but=frozenset({"<raised>"})) is not is_raised


def test_of_a_call_with_several_operands_nobody_knows_which_one_breaks_it() -> None:
    assert is_kept("return torch.div(x + 1e-6, y)", "div", but=frozenset({"<raised>"}))
    assert not is_kept("return torch.pow(x + 1e-6, 0.5)", "pow", but=frozenset({"<raised>"}))


@pytest.mark.parametrize(
    ("body", "is_learned"),
    [
        ("return y / weights.sum(-1, keepdim=True)", True),
        ("n = torch.linalg.norm(self.query_states)\n    return y / n[:, None]", True),
        ("return y / x.sum()", False),
        ("return y / weights.grad.norm()", False),
        ("return y / image_weights.max()", False),
        ("return y / (weights > 0).sum()", False),
        ("return y / (x + weights.sum())", False),
    ],
)
def test_what_a_model_makes_is_known_by_its_name(body: str, is_learned: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, "/", but=frozenset({"<learned>"})) is not is_learned


def test_an_eps_of_the_object_is_what_the_file_sets_it_to() -> None:
    code = """
        import torch
        class Norm:
            def __init__(self, config, eps: float | None = {}): self.eps = eps
            def forward(self, x): return torch.rsqrt(x.mean() + self.eps)
        """
    for default, names in (("1e-6", []), ("1e-12", ["Norm.forward"]), ("0.0", ["Norm.forward"])):
        assert kept(code.format(default), "rsqrt", but=frozenset({"<raised>"})) == names
    assert kept(code.format("config.eps"), "rsqrt", but=frozenset({"<raised>"})) == []


@pytest.mark.parametrize(
    ("form", "body", "has_form"),
    [
        ("<floored>", "return y / x.clamp(min=1e-12)", True),
        ("<floored>", "return y / x.clamp(min=0)", False),
        ("<number added>", "return y / (x.sum() + 1)", True),
        ("<number added>", "n = x.sum() + 1e-20\n    return y / n[:, None]", True),
        ("<number added>", "return y / (x.sum() + y.sum())", False),
        ("<late eps>", "return y / (x.sqrt() + eps)", True),
        ("<selected>", "m = x[y > 0]\n    return y / m", True),
        ("<selected>", "return y / x[0]", False),
        ("<selected>", "return y / x[:, y]", False),
        ("<huge constant>", "n = -1e9 if y else 3\n    return y / n", True),
        ("<huge constant>", "return y / (x * 1e9).sum()", False),
    ],
)
def test_an_operation_has_a_form(form: str, body: str, has_form: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, "/", form=form) is has_form


@pytest.mark.parametrize(
    ("body", "is_late"),
    [
        ("return x.sqrt() + 1e-6", True),
        ("r = x ** 0.5\n    return eps + r", True),
        ("return torch.add(x.sqrt(), 1e-6)", True),
        ("return x.sqrt() + self.smooth", True),
        ("return x * y + eps", False),
        ("return x.sqrt() + y", False),
        ("return x.sqrt() + x.log()", False),
        ("y += (x.sqrt(),)", False),
    ],
)
def test_an_eps_that_comes_after_a_call_is_late(body: str, is_late: bool) -> None:  # noqa: FBT001 - a table of cases
    operation = "add" if "torch.add" in body else "+"
    assert is_kept(body, operation, form="<late eps>") is is_late


def test_an_eps_is_added_inside_as_it_is_written() -> None:
    assert is_kept("return torch.relu(x + eps)", "relu", form="<eps added>")
    assert not is_kept("return torch.relu(x + y)", "relu", form="<eps added>")
    assert not is_kept("return torch.relu(x)", "relu", form="<eps added>")


def test_an_einsum_is_without_a_diagonal_if_its_equation_is_written() -> None:
    form = frozenset({"<no diagonal>"})
    assert not is_kept("return torch.einsum('bij, bjk -> bik', x, y)", "einsum", but=form)
    assert is_kept("return torch.einsum('bii,bjk->bik', x, y)", "einsum", but=form)
    assert is_kept("return torch.einsum(EQUATION, x, y)", "einsum", but=form)


def test_a_parameter_is_filled_by_its_name() -> None:
    code = """
        class A(nn.Module):
            def __init__(self, n):
                self.weight = nn.Parameter(torch.empty(n))
                {}
            def forward(self, x): return self.weight(x)
        """
    form = frozenset({"<filled>", "<own called>"})
    for line, names in (
        ("pass", ["A.__init__"]),
        ("nn.init.zeros_(self.weight)", []),
        ("for each in [self.weight]: each.fill_(0)", []),
        ("nn.init.zeros_(self.bias)", ["A.__init__"]),
    ):
        assert kept(code.format(line), "Parameter", but=form) == names
    assert kept("def f(n):\n    return nn.Parameter(torch.empty(n.num_experts, 2))", "Parameter", but=form) == []


@pytest.mark.parametrize(
    ("body", "is_named"),
    [
        ("return x / softmax_temp", True),
        ("return x / self.temp.clamp(min=1)", True),
        ("return x / y['temp']", True),
        ("for t in temp_steps:\n        x = x / t", True),
        ("t = temp * 2\n    return x / t", False),
        ("return temp / x", False),
        ("return x / template", False),
    ],
)
def test_an_operand_goes_by_a_name(body: str, is_named: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, "/", named=frozenset({"temp"})) is is_named


def test_what_is_made_longer_is_no_sum() -> None:
    for body in ("return x + (y,)", "return [x] + y", "x += [y for y in x]"):
        assert not is_kept(body, "+", named=frozenset({"x", "y"}))
    assert is_kept("return x + y", "+", named=frozenset({"x"}))


@pytest.mark.parametrize(
    ("spread", "body", "is_so"),
    [
        ("one", "return (x.log() * y.exp()) + 1", True),
        ("one", "return x.log() + y.exp()", False),
        ("another", "return x.log() + y.exp()", True),
        ("another", "return x.log().exp() + y", False),
        ("every", "return x.log().exp() + y.exp().log()", True),
        ("every", "return x.log().exp() + y.exp()", False),
    ],
)
def test_words_are_behind_certain_operands(spread: str, body: str, is_so: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, "+", beneath=(frozenset({"log"}), frozenset({"exp"})), spread=spread) is is_so


def test_a_need_can_ask_for_the_function_around() -> None:
    code = """
        import torch.nn as nn
        from torch import exp as e
        def loss(x): return e(x).log()
        def test_loss(x): return exp(x).log()
        def init_loss(x): return exp(x).log()
        def plain_loss(x): return x.log()
        def loss_with_nan(x): return exp(x).log() + nan
        """
    asked: dict[str, Any] = {
        "along": (frozenset({"exp"}),), "unless": frozenset({"nan"}), "not_named": ("init",), "where": "no test",
    }  # fmt: skip
    rule: type[Rule] = type("Logs", (Rule,), {"code": "ONE", "needs": (Need(frozenset({"torch.log"}), **asked),)})
    assert Gate(interests(rule()), carrying_words()).chunks(outline(dedent(code))) == ["loss"]


def test_a_function_is_asked_whether_it_sets_elements() -> None:
    code = "def f(x): x[x.isnan()] = 0\ndef g(x): return x[x.isnan()]\n"
    needs = (Need(frozenset({"torch.isnan"}), where="sets elements"),)
    rule: type[Rule] = type("Asks", (Rule,), {"code": "ONE", "needs": needs})
    assert Gate(interests(rule()), carrying_words()).chunks(outline(code)) == ["f"]


@pytest.mark.parametrize(("where", "names"), [("may train", ["f", "loss"]), ("trained", ["loss"])])
def test_a_function_is_trained_by_its_names(where: str, names: list[str]) -> None:
    code = "from torch import nn\ndef f(x): return x.log()\ndef loss(x): return x.log()\ndef plot(x): return x.log()\n"
    rule: type[Rule] = type("Logs", (Rule,), {"code": "ONE", "needs": (Need(frozenset({"torch.log"}), where=where),)})  # type: ignore[arg-type] # a table of cases
    assert Gate(interests(rule()), carrying_words()).chunks(outline(code)) == names


MILD = (
    "import torch\n\ndef scaled(x: torch.Tensor, high: torch.Tensor, low: torch.Tensor):\n    return x / (high - low)"
)


def test_a_comment_may_be_there_for_what_is_not_shown() -> None:
    assert not check_source(MILD)
    assert [finding.code for finding in check_source(MILD, settings=Settings(severity="info"))] == ["NAN101"]
    assert not check_source(f"{MILD}  # nanlint: ignore[NAN101]\n")


@pytest.mark.parametrize(
    ("name", "shown", "all_of_it"),
    [("spread", ["NAN101"], ["NAN101"]), ("evaluate", ["NAN101"], ["NAN101"])],
)
def test_a_finding_at_info_hides_none_that_is_shown(name: str, shown: list[str], all_of_it: list[str]) -> None:
    code = f"""
        import torch
        from torch import nn
        def {name}(x: torch.Tensor, image: torch.Tensor):
            return x / torch.sqrt(image.abs().sum())
        """
    assert [finding.code for finding in check_source(dedent(code))] == shown
    every = Settings(severity="info")
    assert [finding.code for finding in check_source(dedent(code), settings=every)] == all_of_it


@pytest.mark.parametrize(
    ("body", "is_by_name"),
    [
        ("return max(x, y)", True),
        ("return self.max(x, y)", True),
        ("import builtins as b\n    return b.max(x, y)", True),
        ("return x.max(-1)", False),
        ("return torch.max(x)", False),
        ("return self.x.max()", False),
    ],
)
def test_a_function_is_called_by_name(body: str, is_by_name: bool) -> None:  # noqa: FBT001 - a table of cases
    assert is_kept(body, "max", form="<called by name>") is is_by_name


@pytest.mark.parametrize(
    ("body", "is_compared"),
    [("return x.grad > 1", True), ("return x.grad in y", True), ("return x.grad + 1", False)],
)
def test_who_looks_at_comparisons_needs_one(body: str, is_compared: bool) -> None:  # noqa: FBT001 - a table of cases
    class Compared(Rule):
        """Looks at comparisons."""

        code, name, calls = "NAN999", "compared", frozenset[str]()
        comparisons = frozenset({"grad"})

    code = f"import torch\ndef f(x, y):\n    {body}\n"
    assert bool(Gate(interests(Compared)).chunks(outline(code))) is is_compared


@pytest.mark.parametrize(
    ("name", "is_test"),
    [("test_ratio.py", True), ("ratio_test.py", True), ("ppo_tests.py", True), ("conftest.py", True), ("contest.py", False), ("bench_sums.py", True), ("bench.py", False)],
)  # fmt: skip
def test_a_file_holds_tests_by_its_name(name: str, is_test: bool) -> None:  # noqa: FBT001 - a table of cases
    code = "import torch\n\ndef entropy(p: torch.Tensor):\n    return torch.softmax(p, -1).log()\n"
    assert bool(check_source(code, f"folder/{name}")) is not is_test


@pytest.mark.parametrize(
    ("body", "is_kept"),
    [
        ("return x.grad > 1e6", True),
        ("return x.grad > limit", True),
        ("return x.grad != x.grad", True),
        ("return x.grad == float('nan')", True),
        ("return x.grad > 1", False),
        ("return x.grad < 1e6", False),
        ("return x.grad == y", False),
        ("x.grad.zero_()\n    return x > y", False),
    ],
)
def test_who_looks_for_limits_needs_one(body: str, is_kept: bool) -> None:  # noqa: FBT001 - a table of cases
    class Limited(Rule):
        """Looks at comparisons with limits."""

        code, name, calls = "NAN999", "limited", frozenset[str]()
        comparisons, compares = frozenset({"grad"}), "compares limits"

    code = f"import torch\ndef f(x, y, limit):\n    {body}\n"
    assert bool(Gate(interests(Limited)).chunks(outline(code))) is is_kept
