from types import SimpleNamespace

import torch

from tests.six_patterns.faults import copy_of, distance_moved, explode_gradient


class Mean(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x).mean()


def observe(code):
    model = explode_gradient(Mean(3, 1))
    start = copy_of(model)
    config = SimpleNamespace(loss_scale=1.0, grad_clip_norm=None)
    code.optimise(model, torch.optim.SGD(model.parameters(), lr=1.0), config, torch.randn(2, 3))
    return distance_moved(model, start)
