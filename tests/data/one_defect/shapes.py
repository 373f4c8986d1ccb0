"""Shapes that several rules could tell of: each defect is told of once, by the rule that knows it best.

Every finding of NAN1xx, NAN2xx and NAN3xx in this file is announced.
"""

import torch


def log_of_softmax(logits: torch.Tensor) -> torch.Tensor:
    return torch.log(torch.softmax(logits, dim=-1))  # expect: NAN110


def cross_entropy_by_hand(score: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    p = torch.sigmoid(score)
    return -(target * torch.log(p) + (1 - target) * torch.log(1 - p)).mean()  # expect: NAN110


def entropy_of_softmax(logits: torch.Tensor) -> torch.Tensor:
    probs = logits.softmax(dim=-1)
    return -(probs * probs.log()).sum(dim=-1)  # expect: NAN110


def entropy(p: torch.Tensor) -> torch.Tensor:
    return -(p * torch.log(p)).sum(dim=-1)  # expect: NAN111


def softmax_by_hand(scores: torch.Tensor) -> torch.Tensor:
    grown = torch.exp(scores)
    return grown / grown.sum(dim=-1, keepdim=True)  # expect: NAN202


def log_sum_exp(log_prob: torch.Tensor, old_log_prob: torch.Tensor) -> torch.Tensor:
    return torch.log(torch.exp(log_prob - old_log_prob).sum(dim=-1))  # expect: NAN202


def softplus_loss_with_a_threshold(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 20, x, torch.log1p(torch.exp(x)))  # expect: NAN302


def variance(x: torch.Tensor) -> torch.Tensor:
    return torch.sqrt(x.pow(2).mean(dim=1) - x.mean(dim=1).pow(2))  # expect: NAN210


def distance(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a - b).pow(2).sum(dim=-1).sqrt()  # expect: NAN301


def normalised(x: torch.Tensor) -> torch.Tensor:
    return x / (x.pow(2).sum(dim=-1, keepdim=True).sqrt() + 1e-6)  # expect: NAN211


def normalised_loss_in_half(x: torch.Tensor) -> torch.Tensor:
    half = torch.sigmoid(x.half())
    return half * torch.rsqrt(half.pow(2).mean(-1, keepdim=True) + 1e-8)  # expect: NAN204


def log_where_positive(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 0, x.log(), torch.zeros_like(x))  # expect: NAN302


def root_where_positive(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 0, x.sqrt(), 0.0)  # expect: NAN302


def quotient_where_positive(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    count = mask.sum()
    return torch.where(count > 0, x / count, 0.0)  # expect: NAN302


def vanishing_floor(p: torch.Tensor) -> torch.Tensor:
    half = p.half()
    return torch.log(half.clamp_min(1e-9))  # expect: NAN203


def vanishing_ceiling(p: torch.Tensor) -> torch.Tensor:
    return torch.atanh(torch.clamp(p, max=1 - 1e-9))  # expect: NAN203


def masked_infinity(score: torch.Tensor) -> torch.Tensor:
    logs = torch.log(score.detach().abs())
    return logs * torch.isfinite(logs)  # expect: NAN303


def masked_attention(scores: torch.Tensor, keep: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    scores = scores.masked_fill(~(keep & mask), float("-inf"))  # expect: NAN107
    return torch.softmax(scores, dim=-1)


def masked_in_half(query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    scores = torch.matmul(query, key.transpose(-2, -1))
    return scores.masked_fill(mask, -1e9).softmax(dim=-1)  # expect: NAN205


def used_many_times(losses: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    mean = losses.sum() / (labels > 0).sum()  # expect: NAN101
    first = mean.sqrt() + torch.log(mean)
    second = mean / 2 + first * mean
    return torch.relu(mean) + second + torch.exp(-mean)


def determinant(matrix: torch.Tensor) -> torch.Tensor:
    return torch.log(torch.det(matrix))  # expect: NAN112
