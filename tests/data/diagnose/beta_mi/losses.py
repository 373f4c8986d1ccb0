"""Beta mutual information between the assignments of student and teacher."""

import torch


def beta_mi(student_logits: torch.Tensor, teacher_logits: torch.Tensor, pk: torch.Tensor, beta: float) -> torch.Tensor:
    p1 = student_logits.softmax(dim=-1)
    p2 = teacher_logits.softmax(dim=-1)
    beta_emi = (((p1 * p2) ** beta) / pk).sum(dim=-1)  # planted
    return -beta_emi.log().mean()  # planted


def normalised_weights(weight: torch.Tensor) -> torch.Tensor:
    total = weight.sum()
    if total > 1e-8:
        return weight / total
    return torch.ones_like(weight) / weight.shape[0]
