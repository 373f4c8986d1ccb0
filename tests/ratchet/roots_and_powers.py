"""Roots, powers and distances whose gradient breaks at 0, or whose base slips below it."""

import torch
from torch import nn


def line_distance(start, end, offset):
    width = torch.sqrt((end[..., 1] - start[..., 1]).square() + (end[..., 0] - start[..., 0]).square()) + 1e-6  # expect: NAN211(warning)
    return offset / width


def line_distance_cured(start, end, offset):
    width = torch.sqrt((end[..., 1] - start[..., 1]).square() + (end[..., 0] - start[..., 0]).square() + 1e-6)
    return offset / width


def pair_distance(left, right):
    squares = (left**2).sum(-1)[:, None] + (right**2).sum(-1)[None, :] - 2 * left @ right.t()
    return squares.clamp(min=0).sqrt()  # expect: NAN301(warning)


def pair_distance_cured(left, right):
    squares = (left**2).sum(-1)[:, None] + (right**2).sum(-1)[None, :] - 2 * left @ right.t()  # noise: NAN207(info)
    return squares.clamp(min=1e-6).sqrt()


def compensation(before, after):
    return torch.sqrt(torch.clamp(before / after.clamp_min(0.1), min=0))  # expect: NAN301(info)


def compensation_cured(before, after):
    return torch.sqrt(torch.clamp(before / after.clamp_min(0.1), min=1e-6))


def atom_distances(positions, neighbours):
    between = positions[neighbours] - positions[:, None, :]
    return 1 / torch.norm(between, 2, 2)  # expect: NAN101(warning)


def distance_attention(query, key):
    return -(torch.cdist(query, key, p=2) ** 2)  # not yet: NAN301


def smallest_eigenvalue(matrix):
    determinant = matrix[..., 0, 0] * matrix[..., 1, 1] - matrix[..., 0, 1] * matrix[..., 1, 0]
    middle = (matrix[..., 0, 0] + matrix[..., 1, 1]) / 2
    return middle - (middle**2 - determinant).sqrt()  # expect: NAN103(warning)


def smallest_eigenvalue_cured(matrix):
    determinant = matrix[..., 0, 0] * matrix[..., 1, 1] - matrix[..., 0, 1] * matrix[..., 1, 0]
    middle = (matrix[..., 0, 0] + matrix[..., 1, 1]) / 2
    return middle - (middle**2 - determinant).clamp(min=1e-6).sqrt()


def skewed_scale(skew, stability):
    return skew.abs().pow(stability.reciprocal())  # not yet: NAN105


def stable_noise(angle, shape):
    return (torch.cos(angle) * 0.5).pow(1 / shape)  # expect: NAN105(warning)


def stable_noise_cured(angle, shape):
    return (torch.cos(angle) * 0.5).clamp(min=1e-6).pow(1 / shape)


class FidelityKernel(nn.Module):
    def __init__(self):
        super().__init__()
        self.power = nn.Parameter(torch.tensor(1.0))

    def forward(self, left, right):
        return (1 + left * right).pow(self.power)  # expect: NAN105(warning)
