"""Distillation of a large net into a small one."""

from dataclasses import dataclass

import torch


@dataclass
class DistilConfig:
    temperature: float = 4.0
    weight: float = 0.7


def _divergence(a: torch.Tensor, log_b: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.kl_div(log_b, a, reduction="batchmean")


def distil_loss(config: DistilConfig, student: torch.Tensor, teacher: torch.Tensor, hard: torch.Tensor) -> torch.Tensor:
    """`hard` is the loss on the true labels."""
    heat = config.temperature
    wanted = (teacher / heat).softmax(-1)
    given = (student / heat).log_softmax(-1)
    soft = _divergence(wanted, given) * heat**2
    return config.weight * soft + (1 - config.weight) * hard
