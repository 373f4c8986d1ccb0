import torch

from tests.six_patterns.faults import copy_of, distance_moved, explode_gradient


def observe(code):
    model = explode_gradient(torch.nn.Linear(3, 1))
    start = copy_of(model)
    code.Trainer(model, code.TrainConfig(lr=1.0)).step(torch.randn(2, 3), torch.randn(2, 1))
    return distance_moved(model, start)
