"""Activations round to the ends of their ranges: softmax and sigmoid reach 0 and 1 themselves."""

import torch
import torch.nn.functional as F
from torch import nn


def functional(x: torch.Tensor) -> None:
    reveal(x.softmax(dim=-1))  # range: [0, 1]
    reveal(F.softmax(x, dim=1))  # range: [0, 1]
    reveal(torch.softmax(x, 0))  # range: [0, 1]
    reveal(F.softmin(x, dim=-1))  # range: [0, 1]
    reveal(F.gumbel_softmax(x))  # range: [0, 1]
    reveal(x.log_softmax(-1))  # range: (-inf, 0]
    reveal(x.log_softmax(-1).exp())  # range: [0, 1]
    reveal(x.sigmoid())  # range: [0, 1]
    reveal(torch.special.expit(x))  # range: [0, 1]
    reveal(F.logsigmoid(x))  # range: (-inf, 0]
    reveal(F.logsigmoid(x).exp())  # range: [0, 1]
    reveal(F.softplus(x))  # range: [0, inf)
    reveal(F.softplus(x) + 1e-6)  # range: [1e-06, inf)
    reveal(F.relu(x))  # range: [0, inf)
    reveal(x.relu())  # range: [0, inf)
    reveal(F.relu6(x))  # range: [0, 6]
    reveal(F.elu(x))  # range: [-1, inf)
    reveal(F.elu(x) + 1)  # range: [0, inf)
    reveal(F.elu(x, alpha=2.0))  # range: [-2, inf)
    reveal(F.hardtanh(x))  # range: [-1, 1]
    reveal(F.hardtanh(x, 0.0, 4.0))  # range: [0, 4]
    reveal(F.hardsigmoid(x))  # range: [0, 1]
    reveal(F.softsign(x))  # range: [-1, 1]
    reveal(F.tanh(x))  # range: [-1, 1]
    reveal(F.leaky_relu(x))  # range: (-inf, inf)
    reveal(F.leaky_relu(x.sigmoid() - 1))  # range: [-0.01, 0]
    reveal(F.gelu(x))  # range: [-0.169971, inf)
    reveal(F.silu(x))  # range: [-0.278465, inf)
    reveal(F.mish(x))  # range: [-0.308844, inf)
    reveal(F.threshold(x, 0.5, 0.5))  # range: [0.5, inf)
    reveal(F.normalize(x, dim=-1))  # range: [-1, 1]
    reveal(F.dropout(x.relu(), 0.5))  # range: [0, inf)


def modules(x: torch.Tensor) -> None:
    reveal(nn.Softmax(dim=-1)(x))  # range: [0, 1]
    reveal(nn.LogSoftmax(dim=-1)(x))  # range: (-inf, 0]
    reveal(nn.Sigmoid()(x))  # range: [0, 1]
    reveal(nn.Tanh()(x))  # range: [-1, 1]
    reveal(nn.ReLU()(x))  # range: [0, inf)
    reveal(nn.ReLU(inplace=True)(x))  # range: [0, inf)
    reveal(nn.ReLU6()(x))  # range: [0, 6]
    reveal(nn.Softplus()(x))  # range: [0, inf)
    reveal(nn.ELU()(x))  # range: [-1, inf)
    reveal(nn.ELU(alpha=0.5)(x))  # range: [-0.5, inf)
    reveal(nn.Hardtanh(-2.0, 3.0)(x))  # range: [-2, 3]
    reveal(nn.Identity()(x.sigmoid()))  # range: [0, 1]
    reveal(nn.LogSigmoid()(x))  # range: (-inf, 0]
    reveal(nn.LayerNorm(4)(x))  # range: (-inf, inf)
    reveal(nn.Linear(4, 4)(x))  # range: (-inf, inf)
