import torch

from tests.six_patterns.faults import break_gradient


def observe(code):
    recogniser = code.Recogniser(break_gradient(torch.nn.Linear(3, 2)), 0.1)
    recogniser.learn(torch.randn(2, 3), torch.tensor([0, 1]))
    return list(recogniser.net.parameters())
