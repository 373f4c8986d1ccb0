import torch

from tests.six_patterns.faults import copy_of, distance_moved, explode_gradient


def observe(code):
    model = explode_gradient(code.Policy(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    start = copy_of(model)
    model.improve(optimizer, torch.randn(2, 3), torch.tensor([0, 1]), torch.ones(2))
    return distance_moved(model, start)
