"""Training loop with odd names; the number that is printed is the number that is checked."""

import math

import torch
from torch.nn.utils import clip_grad_norm_


def fit(net, data, steps: int, rate: float, bound: float = 2.0) -> list[float]:
    sgd = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9)
    curve: list[float] = []
    source = iter(data)
    for step in range(steps):
        a, b = next(source)
        gap = (net(a) - b).pow(2).mean()
        shown = gap.item()
        if math.isnan(shown) or math.isinf(shown):
            raise RuntimeError(f"diverged at step {step}")
        sgd.zero_grad()
        gap.backward()
        clip_grad_norm_(net.parameters(), bound)  # expect: NAN403
        sgd.step()
        curve.append(shown)
    return curve
