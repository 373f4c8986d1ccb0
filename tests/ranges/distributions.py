"""What objects of torch.distributions hold, as far as they were made in sight."""

import torch
from torch.distributions import Bernoulli, Categorical, Normal


def chosen(x: torch.Tensor) -> None:
    reveal(Categorical(logits=x, validate_args=False).probs)  # range: [0, 1]
    reveal(Categorical(None, x, validate_args=False).logits)  # range: (-inf, 0]
    reveal(Bernoulli(logits=x, validate_args=False).probs)  # range: [0, 1]
    reveal(Bernoulli(x.sigmoid(), validate_args=False).probs)  # range: [0, 1]


def spread(x: torch.Tensor) -> None:
    normal = Normal(x.tanh(), x.exp(), validate_args=False)
    reveal(normal.mean)  # range: [-1, 1]
    reveal(normal.stddev)  # range: [0, inf]
    reveal(normal.variance)  # range: (-inf, inf)
