import torch

from tests.six_patterns.faults import break_gradient


def observe(code):
    model = break_gradient(torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    code.train_epoch(model, [(torch.randn(2, 3), torch.randn(2, 1))], torch.nn.functional.mse_loss, optimizer)
    return list(model.parameters())
