import torch

from tests.six_patterns.faults import break_gradient


def observe(code):
    learner = code.Learner(torch.nn.Linear(3, 1), break_gradient(torch.nn.Linear(3, 1)))
    learner.improve(torch.randn(4, 3), torch.randn(4))
    return learner.weights
