import torch

from tests.six_patterns.faults import copy_of, distance_moved, explode_gradient


def observe(code):
    model = explode_gradient(torch.nn.Linear(3, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    start = copy_of(model)
    code.train_step(model, optimizer, torch.randn(2, 3), 0.1)
    return distance_moved(model, start)
