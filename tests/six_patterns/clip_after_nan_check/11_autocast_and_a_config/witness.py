import torch

from tests.six_patterns.faults import break_gradient


def observe(code):
    run = code.Run(break_gradient(torch.nn.Linear(3, 2)), code.RunConfig())
    run.step(torch.randn(2, 3), torch.tensor([0, 1]))
    return list(run.model.parameters())
