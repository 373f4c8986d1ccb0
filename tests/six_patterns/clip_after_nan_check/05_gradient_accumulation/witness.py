import torch

from tests.six_patterns.faults import break_gradient


def observe(code):
    model = break_gradient(torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=1.0)
    code.train(model, [torch.randn(2, 3), torch.randn(2, 3)], optimizer, scheduler, 2, 1.0)
    return list(model.parameters())
