"""Which arguments a function is given: kinds decide truth."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from nanlint.confirm.given import given_for
from nanlint.confirm.inputs import Parameter, proposals
from nanlint.confirm.names import domain_of
from nanlint.confirm.worker.uses import uses_in
from nanlint.errors import SettingsError

if TYPE_CHECKING:
    from nanlint.confirm.worker.evidence import Uses


def uses_of(body: str, name: str = "x") -> Uses:
    return uses_in(ast.parse(f"def f({name}):\n    {body}\n"), {name})[name]


def first(name: str, annotation: str = "", body: str = "pass", *, building: bool = False) -> dict[str, object]:
    return proposals(Parameter(name, annotation), uses_of(body, name), rank=2, building=building)[0]


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("x", "real"),
        ("attention_mask", "mask"),
        ("labels", "index"),
        ("probs", "simplex"),
        ("p", "unit"),
        ("sigma", "positive"),
        ("temperature", "positive"),
        ("log_prob", "logprob"),
        ("logits", "real"),
        ("rho", "signed"),
        ("sign", "signed"),
    ],
)
def test_a_name_promises_a_domain(name: str, domain: str) -> None:
    assert domain_of(name) == domain


@pytest.mark.parametrize("name", ["num_classes", "n_heads", "codebook_size", "hidden_dim"])
def test_a_count_is_an_integer_and_never_a_tensor(name: str) -> None:
    spec = first(name, building=True)
    assert (spec["kind"], type(spec["value"])) == ("value", int)


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("torch.Tensor", "tensor"),
        ("Optional[Tensor]", "tensor"),
        ("list[torch.Tensor]", "list"),
        ("dict[str, Tensor]", "dict"),
        ("int", "value"),
        ("bool", "value"),
        ("Callable[[Tensor], Tensor]", "module"),
        ("torch.dtype", "dtype"),
        ("ModelConfig", "class"),
    ],
)
def test_an_annotation_decides_the_kind(annotation: str, kind: str) -> None:
    assert first("thing", annotation)["kind"] == kind


@pytest.mark.parametrize(
    ("body", "ranks"),
    [
        pytest.param("b, c, h, w = x.shape", [4], id="an unpacked shape"),
        pytest.param("b, n, d, dev = *x.shape, x.device", [3], id="with the device behind"),
        pytest.param("y = rearrange(x, 'b n (h d) -> b h n d')", [3], id="an einops pattern"),
        pytest.param("y = x.permute(0, 2, 1)", [3], id="a permutation"),
        pytest.param("y = F.conv2d(x, w)", [4], id="a convolution"),
    ],
)
def test_use_tells_the_number_of_dimensions(body: str, ranks: list[int]) -> None:
    assert uses_of(body).ranks == ranks


def test_a_dimension_that_is_asked_for_must_be_there() -> None:
    assert uses_of("y = x.sum(dim=2)").least_rank == 3


def test_jaxtyping_tells_the_number_of_dimensions() -> None:
    assert len(first("x", 'Float[Tensor, "b n d"]')["shape"]) == 3  # type: ignore[arg-type] # a list of sizes


def test_what_masks_is_a_mask() -> None:
    assert first("keep_out", "torch.Tensor", "y = s.masked_fill(keep_out, 0)")["domain"] == "mask"


def test_words_that_a_parameter_is_compared_with_are_tried() -> None:
    assert first("kind", "str", "y = 1 if kind == 'rms' else 2")["value"] == "rms"


def test_the_settings_state_shapes_and_domains() -> None:
    table = {
        "m:f": {"ctor": {"dim": 32}, "x": {"shape": [2, 5], "domain": "prob"}, "ids": {"shape": [2], "domain": "int<7"}}
    }
    given = given_for("m:f", table)
    assert given["ctor"] == {"dim": {"kind": "value", "value": 32}}
    assert (given["call"]["x"]["domain"], given["call"]["ids"]["high"]) == ("prob", 7)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"x": {"shape": [2], "domain": "reel"}}, "did you mean real"),
        ({"x": {"shape": [2], "domian": "real"}}, "did you mean domain"),
        ({"x": {"shape": "2, 5"}}, "give a list of sizes"),
    ],
)
def test_a_wrong_table_is_named_with_the_next_step(table: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        given_for("m:f", {"m:f": table})
