"""Losses and distances: what they return for finite inputs, by their reduction and their targets."""

import torch
import torch.nn.functional as F
from torch import nn


def functional(x: torch.Tensor, y: torch.Tensor, labels: torch.Tensor) -> None:
    reveal(F.mse_loss(x, y))  # range: [0, inf)
    reveal(F.l1_loss(x, y, reduction="none"))  # range: [0, inf)
    reveal(F.smooth_l1_loss(x, y))  # range: [0, inf)
    reveal(F.huber_loss(x, y))  # range: [0, inf)
    reveal(F.mse_loss(x, y).sqrt())  # range: [0, inf)
    reveal(F.cross_entropy(x, labels.clamp(min=0)))  # range: [0, inf)
    reveal(F.nll_loss(x.log_softmax(-1), labels.clamp(min=0)))  # range: [0, inf)
    reveal(F.nll_loss(x, labels.clamp(min=0)))  # range: (-inf, inf)
    reveal(F.binary_cross_entropy(x.sigmoid(), y.sigmoid()))  # range: [0, 100]
    reveal(F.binary_cross_entropy_with_logits(x, y.sigmoid()))  # range: [0, inf)
    reveal(F.binary_cross_entropy_with_logits(x, y))  # range: (-inf, inf)
    reveal(F.kl_div(x.log_softmax(-1), y.softmax(-1)))  # range: (-inf, inf)
    reveal(F.cosine_similarity(x, y))  # range: [-1, 1]
    reveal(1 - F.cosine_similarity(x, y))  # range: [-2.02656e-06, 2]
    reveal(F.pairwise_distance(x, y))  # range: [0, inf)
    reveal(F.triplet_margin_loss(x, y, x + 1))  # range: [0, inf)
    reveal(F.hinge_embedding_loss(x, y.sign()))  # range: (-inf, inf)
    reveal(F.poisson_nll_loss(x, y.relu()))  # range: (-inf, inf]
    reveal(F.gaussian_nll_loss(x, y, F.softplus(x)))  # range: (-inf, inf)


def modules(x: torch.Tensor, y: torch.Tensor, labels: torch.Tensor) -> None:
    reveal(nn.MSELoss()(x, y))  # range: [0, inf)
    reveal(nn.L1Loss(reduction="sum")(x, y))  # range: [0, inf)
    reveal(nn.CrossEntropyLoss()(x, labels.clamp(min=0)))  # range: [0, inf)
    reveal(nn.BCELoss()(x.sigmoid(), y.sigmoid()))  # range: [0, 100]
    reveal(nn.BCELoss(reduction="sum")(x.sigmoid(), y.sigmoid()))  # range: [0, inf)
    reveal(nn.BCEWithLogitsLoss()(x, y))  # range: (-inf, inf)
    reveal(nn.CosineSimilarity(dim=-1)(x, y))  # range: [-1, 1]
    reveal(nn.SmoothL1Loss()(x, y))  # range: [0, inf)
    reveal(nn.KLDivLoss(reduction="batchmean")(x, y.sigmoid()))  # range: (-inf, inf)


def by_hand(x: torch.Tensor, y: torch.Tensor) -> None:
    reveal(((x - y) ** 2).mean())  # range: [0, inf)
    reveal((x - y).abs().sum(-1))  # range: [0, inf)
    reveal((x - y).pow(2).sum(-1).sqrt())  # range: [0, inf)
    reveal(-(y.sigmoid() * x.log_softmax(-1)).sum(-1))  # range: [0, inf)
    reveal(-x.softmax(-1).log())  # range: [0, inf]
    reveal(1 - x.tanh() ** 2)  # range: [0, 1]
    reveal(torch.exp(x) / (torch.exp(x) + 1))  # range: [0, 1] or nan
    reveal(x.relu().mean() + F.mse_loss(x, y))  # range: [0, inf)
