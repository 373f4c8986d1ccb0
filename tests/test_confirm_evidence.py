"""What the source says about arguments nobody has: parts, keys, results of calls, and the tests around a line."""

from __future__ import annotations

import ast
import textwrap

import pytest

from nanlint.confirm.composites import replaced, stands_in, within
from nanlint.confirm.conditions import Demand, demands_of
from nanlint.confirm.inputs import Parameter, Spec, attribute, proposals, tensor, value
from nanlint.confirm.preconditions import broken_by
from nanlint.confirm.worker.evidence import Resolved, Uses
from nanlint.confirm.worker.uses import uses_in


def evidence(text: str, *names: str) -> dict[str, Uses]:
    """The evidence on names in a function."""
    return uses_in(ast.parse(textwrap.dedent(text)), set(names))


def first_proposal(text: str, name: str) -> Spec:
    """The likeliest spec of one parameter of a function."""
    return proposals(Parameter(name), evidence(text, name)[name], rank=2, building=False)[0]


def test_what_is_asked_by_keys_is_a_dictionary_of_what_is_done_with_each() -> None:
    made = first_proposal(
        """
        def loss(batch):
            scores = batch["scores"]
            return scores.softmax(-1)[batch["labels"]] * batch["mask"]
        """,
        "batch",
    )
    assert made["kind"] == "dict"
    assert {key: item["domain"] for key, item in made["items"].items()} == {
        "labels": "index",
        "mask": "mask",
        "scores": "real",
    }


def test_what_a_tiny_number_is_added_to_is_at_least_0() -> None:
    for text in ("torch.log(x + 1e-10)", "1e-6 + x", "(x.detach() + 0.0001).sqrt()"):
        assert first_proposal(f"def f(x):\n    return {text}", "x")["domain"] == "nonneg", text
    for text in ("x + 1.0", "x - 1e-8", "x + 1", "x.sum() + 1e-8", "1e-8 * x"):
        assert first_proposal(f"def f(x):\n    return {text}", "x")["domain"] == "real", text


def test_a_key_that_the_code_asks_for_first_is_left_out() -> None:
    made = first_proposal(
        """
        def loss(batch):
            if "weights" in batch:
                return batch["scores"] * batch["weights"]
            return batch["scores"]
        """,
        "batch",
    )
    assert list(made["items"]) == ["scores"]


def test_what_has_attributes_that_no_tensor_has_is_a_stand_in() -> None:
    made = first_proposal("def f(out):\n    return out.hidden_states.mean(1) / out.num_tokens", "out")
    assert made["kind"] == "object"
    assert {name: item["kind"] for name, item in made["items"].items()} == {
        "hidden_states": "tensor",
        "num_tokens": "value",
    }


def test_what_is_asked_for_a_log_probability_is_a_distribution() -> None:
    made = first_proposal("def f(policy, action):\n    return policy.log_prob(action) / policy.stddev", "policy")
    assert made["kind"] == "distribution"
    assert sorted(made["items"]) == ["loc", "scale"]


def test_a_mean_that_is_read_and_not_called_is_that_of_a_distribution() -> None:
    assert evidence("def f(p, y):\n    return (y - p.mean) ** 2", "p")["p"].is_distribution
    assert not evidence("def f(p, y):\n    return (y - p.mean()) ** 2", "p")["p"].is_distribution


def test_what_a_call_returns_is_known_by_its_parts() -> None:
    made = first_proposal("def f(model, x):\n    out = model(x)\n    return out.logits.softmax(-1)", "model")
    assert made["result"]["items"]["logits"]["kind"] == "tensor"


def test_a_pair_that_is_unpacked_is_a_pair() -> None:
    made = first_proposal("def f(state):\n    mean, scale = state\n    return mean / scale", "state")
    assert (made["kind"], len(made["items"])) == ("list", 2)


def test_evidence_is_found_in_the_function_that_gets_the_argument() -> None:
    helper = ast.parse("def helper(inner):\n    return inner['ids'].shape[2]").body[0]
    assert isinstance(helper, ast.FunctionDef)

    def resolve(name: str) -> Resolved | None:
        return Resolved(helper, resolve) if name == "helper" else None

    found = uses_in(ast.parse("def f(batch):\n    return helper(batch)"), {"batch"}, resolve)
    assert found["batch"].items["ids"].least_rank == 3


def test_a_function_that_calls_itself_is_read_once() -> None:
    function = ast.parse("def f(x):\n    return f(x.left) + x.value").body[0]
    assert isinstance(function, ast.FunctionDef)

    def resolve(_: str) -> Resolved | None:
        return Resolved(function, resolve)

    assert set(uses_in(function, {"x"}, resolve)["x"].parts) == {"left", "value"}


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        pytest.param("eps", "self.eps + x", 1e-6, id="a name that promises a float"),
        pytest.param("num_heads", "x.view(self.num_heads)", 2, id="a count"),
        pytest.param("mode", "1 if self.mode == 'soft' else 2", "soft", id="a word it is compared with"),
        pytest.param("_reduction", "reduce(x, self._reduction)", "mean", id="a text that is known by its name"),
        pytest.param("use_bias", "x if self.use_bias else 0", False, id="a switch"),
        pytest.param("quantile", "x if self.quantile < 1.0 else 0", 0.5, id="a number that is compared"),
    ],
)
def test_a_setting_is_a_plain_value(name: str, body: str, expected: object) -> None:
    uses = evidence(f"def f(self, x):\n    return {body}", "self")["self"].parts[name]
    assert attribute(name, uses)[0] == value(expected)


def test_the_type_of_the_device_is_that_of_the_run() -> None:
    uses = evidence("def f(self, x):\n    return torch.autocast(self._device_type)", "self")["self"].parts[
        "_device_type"
    ]
    assert attribute("_device_type", uses)[0] == {"kind": "device_type"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "if mask is not None and self.mode == 'soft':\n    HERE",
            [Demand("mask", "given"), Demand("self.mode", "is", "soft")],
            id="both sides of an and",
        ),
        pytest.param("if x is None:\n    return 0\nHERE", [Demand("x", "given")], id="an early return"),
        pytest.param("if hard:\n    a = 1\nelse:\n    HERE", [Demand("hard", "false")], id="the other branch"),
        pytest.param("if not hard or soft:\n    HERE", [Demand("hard", "false")], id="the first side of an or"),
        pytest.param("if 'mask' in batch:\n    HERE", [Demand("batch", "key", "mask")], id="a key"),
        pytest.param("if steps > 3:\n    HERE", [Demand("steps", "is", 4)], id="a number that is larger"),
        pytest.param("if kind in ('a', 'b'):\n    HERE", [Demand("kind", "is", "a")], id="one of several words"),
        pytest.param("if f(x):\n    HERE", [], id="a test that says nothing about an argument"),
    ],
)
def test_a_line_demands_what_the_tests_before_it_ask(text: str, expected: list[Demand]) -> None:
    lines = text.splitlines()
    body = "\n".join(f"    {line}" for line in lines)
    number = 2 + next(place for place, line in enumerate(lines) if "HERE" in line)
    tree = ast.parse(f"def f():\n{body}")
    assert demands_of(tree.body[0], number) == expected


def test_a_spec_inside_a_spec_is_replaced_and_the_old_one_stays() -> None:
    old: Spec = {"kind": "list", "items": [{"kind": "dict", "items": {"a": value(1)}}, value(2)]}
    new = replaced(old, ("0", "a"), value(3))
    assert dict(within(new))[("0", "a")] == value(3)
    assert dict(within(old))[("0", "a")] == value(1)


def test_a_stand_in_with_a_tensor_is_known_as_one() -> None:
    bare: Spec = {"kind": "object", "items": {"eps": value(1e-6)}, "keys": {}, "result": None}
    held: Spec = {**bare, "result": tensor("x", 2)}
    assert (stands_in(bare), stands_in({"kind": "list", "items": [held]})) == (False, True)


@pytest.mark.parametrize(
    ("documented", "values", "expected"),
    [
        pytest.param("Args:\n    scale: must be positive.", [0.0], True, id="zero where positive is asked"),
        pytest.param("Args:\n    scale: must be positive.", [0.5], False, id="what is asked"),
        pytest.param("The scale must be non-negative.", [0.0], False, id="zero where it is allowed"),
        pytest.param("The scale must be non-empty.", [False], True, id="a mask of nothing"),
        pytest.param("Args:\n    scale: probabilities, one per class.", [-1.0], True, id="no probability"),
        pytest.param("Args:\n    other: must be positive.", [0.0], False, id="another argument"),
        pytest.param("Divides by the scale, a positive habit.", [0.0], False, id="no demand"),
        pytest.param("Args:\n    scale: count of true positives.", [0.0], False, id="another word"),
        pytest.param("Args:\n    scale: log-probabilities of tokens.", [-1.0], False, id="logarithms of probabilities"),
    ],
)
def test_a_documented_precondition_is_broken_by_values_only(
    documented: str, values: list[float], *, expected: bool
) -> None:
    spec = {"kind": "tensor", "shape": [1], "domain": "real", "values": values}
    assert bool(broken_by(documented, {"scale": spec})) is expected
