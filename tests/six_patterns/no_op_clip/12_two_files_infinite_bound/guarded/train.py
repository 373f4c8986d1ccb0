"""Train a ranking model."""

import torch
from torch import nn

from engine.stepping import Stepper


def train(ranker: nn.Module, pairs, rate: float) -> None:
    step = Stepper(torch.optim.SGD(ranker.parameters(), lr=rate), ranker.parameters())
    for better, worse in pairs:
        step(nn.functional.softplus(ranker(worse) - ranker(better)).mean())
