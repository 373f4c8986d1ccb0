"""Shrinking: simpler in one total order, and the same failure all the way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nanlint.confirm.shrink import shrink, steps
from nanlint.confirm.witness import Values, Witness


def witness(*elements: float, shape: tuple[int, ...] | None = None, domain: str = "real") -> Witness:
    return Witness((("x", Values(shape or (len(elements),), elements, domain)),))


def test_fewer_elements_are_simpler_than_smaller_values() -> None:
    assert witness(500.25).complexity < witness(0.0, 0.0).complexity


def test_rounder_values_are_simpler() -> None:
    assert witness(0.0).complexity < witness(1.0).complexity < witness(7.0).complexity < witness(1.2345).complexity


def test_a_failure_of_any_element_ends_with_one_element() -> None:
    found = shrink(witness(3.7, -2.0, 0.1, 9.0, shape=(2, 2)), lambda one: bool(one.tensors[0][1].elements))
    assert found.tensors[0][1] == Values((1, 1), (0.0,))


def test_a_magnitude_is_halved_as_far_as_it_still_fails() -> None:
    found = shrink(witness(10000.0), lambda one: float(one.tensors[0][1].elements[0]) > 88.7)
    assert 88.7 < float(found.tensors[0][1].elements[0]) <= 100


def test_tensors_of_one_batch_shrink_together() -> None:
    both = Witness((("a", Values((4, 2), (1.5,) * 8)), ("b", Values((4,), (2.5,) * 4))))
    found = dict(shrink(both, lambda one: len({values.shape[0] for _, values in one.tensors}) == 1).tensors)
    assert (found["a"].shape, found["b"].shape) == ((1, 1), (1,))


def test_a_mask_stays_a_mask() -> None:
    found = shrink(witness(True, True, domain="mask"), lambda _: True)  # noqa: FBT003 - a mask's elements
    assert found.tensors[0][1].elements == (False,)


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=6))
def test_what_comes_out_fails_and_is_never_less_simple(elements: list[float]) -> None:
    def fails(one: Witness) -> bool:
        return sum(map(float, one.tensors[0][1].elements)) <= sum(elements)

    start = witness(*elements)
    found = shrink(start, fails, tries=60)
    assert fails(found)
    assert found.complexity <= start.complexity


@given(st.lists(st.floats(-1e4, 1e4), min_size=4, max_size=4))
def test_every_step_keeps_shape_and_elements_in_step(elements: list[float]) -> None:
    for one in steps(witness(*elements, shape=(2, 2))):
        values = one.tensors[0][1]
        assert len(values.elements) == values.shape[0] * values.shape[1]


def test_what_fails_because_two_tensors_are_equal_shrinks_together() -> None:
    same = Values((2,), (1.5409, -0.2934))
    start = Witness((("x", same), ("y", same), ("mask", Values((2,), (True, False), "mask"))))
    smallest = shrink(start, lambda one: dict(one.tensors)["x"] == dict(one.tensors)["y"])
    assert [values.elements for _, values in smallest.tensors] == [(0.0,), (0.0,), (False,)]


def test_digits_that_two_tensors_share_are_dropped_from_both() -> None:
    same = Values((1,), (1.5409,))
    start = Witness((("x", same), ("y", same)))
    smallest = shrink(start, lambda one: one.tensors[0][1] == one.tensors[1][1] and one.tensors[0][1].elements[0] > 1)
    assert [values.elements for _, values in smallest.tensors] == [(2.0,), (2.0,)]
