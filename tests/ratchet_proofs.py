"""Inputs that break the functions of tests/ratchet, and leave their cures finite. Imports torch."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import torch

from tests.ratcheting import CURED, FILES

if TYPE_CHECKING:
    from collections.abc import Iterator

ones, zeros = torch.ones, torch.zeros
NO_LABEL = torch.full((2, 3), -100)

# File and function -> the arguments that break it; what needs the half format, a GPU or a whole run is not here.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "masked_means.frame_loss": (ones(2, 1, 2, 2), ones(2, 1, 2, 2), zeros(2, 1, 2, 2)),
    "masked_means.overlap_loss": (zeros(0, 4), zeros(0, 4), 0),
    "masked_means.observed_mean": (ones(1, 3, 2), zeros(1, 3, 2)),
    "masked_means.neighbour_mean": (ones(2, 3), zeros(2, 2)),
    "masked_means.masked_mean": (ones(3), zeros(3)),
    "ranges_and_scales.eigenvalue_spread": (torch.eye(3),),
    "ranges_and_scales.level_clip": (ones(4), [0.0] * 4),
    "ranges_and_scales.projection": (ones(1, 4), zeros(1, 4)),
    "ranges_and_scales.grid_position": (ones(2), ones(3)),
    "ranges_and_scales.rescaled_maps": (ones(1, 1, 2, 2),),
    "ranges_and_scales.relative_error": (zeros(2), zeros(2)),
    "ranges_and_scales.attenuated": (ones(2), zeros(2), 1.0),
    "ranges_and_scales.unit_cloud": (zeros(3),),
    "ranges_and_scales.by_own_sum": (ones(1, 1, 2, 2), zeros(1, 1, 2, 2)),
    "ranges_and_scales.by_first_lag": (zeros(1, 4),),
    "too_few.hardest_margin": (ones(2, 3), torch.tensor([False, False])),
    "too_few.answer_loss": (ones(6, 4), NO_LABEL.flatten()),
    "too_few.normalised_advantages": (ones(1),),
    "too_few.map_deviation": (ones(1, 2, 1, 1),),
    "logarithms.aggregated_loss": (torch.tensor([[[200.0, 0.0]]]), torch.tensor([[0.0, 1.0]]), 1),
    "logarithms.contrastive_loss": (torch.tensor([[200.0, 0.0], [0.0, 200.0]]), 1 - torch.eye(2), ones(2, 2)),
    "logarithms.chunk_energy": (zeros(1, 4),),
    "logarithms.given_scores": (torch.tensor([[1.0, 0.0]]), torch.tensor([1])),
    "logarithms.half_way_code": (torch.tensor([[200.0, 0.0]]), torch.tensor([[1.0, 0.0]]), torch.tensor(1.0)),
    "logarithms.log_product": (torch.tensor([[0.0, -200.0]]), torch.tensor([[-200.0], [0.0]])),
    "logarithms.information": (ones(1), torch.tensor([1.0000001])),
    "logarithms.tail_log": (torch.tensor([-9.0]),),
    "logarithms.of_correlation": (torch.tensor([-0.5]),),
    "exponentials.closeness": (torch.full((1, 2, 2), -100.0), 0.5),
    "exponentials.clipped_objective": (zeros(2), torch.full((2,), -100.0), -ones(2)),
    "exponentials.edge_softmax": (torch.tensor([100.0, 100.0]), torch.tensor([0, 0]), 1),
    "masked_softmax.history_attention": (ones(1, 2, 2), ones(1, 2, 2), ones(1, 2, 2), torch.tensor([[[1, 1], [0, 0]]])),
    "masked_softmax.bucket_attention": (ones(1, 2, 2), torch.tensor([[True, False]])),
    "roots_and_powers.line_distance": (zeros(1, 2), zeros(1, 2), ones(1)),
    "roots_and_powers.pair_distance": (zeros(2, 3), zeros(2, 3)),
    "roots_and_powers.compensation": (zeros(1), ones(1)),
    "roots_and_powers.atom_distances": (ones(2, 3), torch.tensor([[0], [1]])),
    "roots_and_powers.smallest_eigenvalue": (torch.tensor([[1.0, 1.0], [-1.0, 1.0]]),),
    "roots_and_powers.skewed_scale": (zeros(1), torch.tensor(1.5)),
    "roots_and_powers.stable_noise": (torch.tensor([3.0]), 1.5),
    "infinities.known_norm": (torch.tensor(torch.inf),),
    "infinities.angle_terms": (zeros(2), torch.tensor([False, False])),
    "infinities.kept_sum": (zeros(2), zeros(2)),
    "infinities.log_difference": (torch.tensor([-torch.inf]), torch.tensor([-torch.inf])),
    "infinities.shifted": (ones(1, 2), torch.tensor([[False, False]])),
    "speech.transcript_loss": (
        zeros(1, 1, 3).log_softmax(2),
        torch.tensor([[1, 1]]),
        torch.tensor([1]),
        torch.tensor([2]),
    ),
}
# A cure that takes other arguments: the logits in place of the probabilities, the labels in place of their count.
CURED_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "logarithms.contrastive_loss": (torch.tensor([[200.0, 0.0], [0.0, 200.0]]), torch.eye(2).bool(), ones(2, 2)),
    "logarithms.given_scores": (torch.tensor([[200.0, 0.0]]), torch.tensor([1])),
}


def breaks_on(function: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a result or a gradient of `file.function` is NaN or infinite."""
    file, _, name = function.partition(".")
    leaves = [_leaf(argument) for argument in arguments]
    # Clones, because some of the functions write into what they are given.
    given = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    results = list(_tensors(getattr(_module(file), name)(*given)))
    total = sum(result.sum() for result in results if result.requires_grad)
    if isinstance(total, torch.Tensor):
        total.backward()
    gradients = [leaf.grad for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.grad is not None]
    return not all(bool(torch.isfinite(tensor).all()) for tensor in (*results, *gradients))


def cure_of(function: str) -> str | None:
    """The name of the cure, where the file has one."""
    file, _, name = function.partition(".")
    return f"{function}{CURED}" if hasattr(_module(file), name + CURED) else None


def _module(file: str) -> Any:
    path = next(path for path in FILES if path.stem == file)
    spec = importlib.util.spec_from_file_location(f"ratchet_{file}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _leaf(argument: Any) -> Any:
    """The argument with a gradient of its own, if it can have one."""
    if not isinstance(argument, torch.Tensor) or not argument.is_floating_point():
        return argument
    return argument.detach().clone().requires_grad_()


def _tensors(result: Any) -> Iterator[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        yield result
    elif isinstance(result, tuple):
        for one in result:
            yield from _tensors(one)
