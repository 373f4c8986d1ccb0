import contextlib

import torch

from tests.six_patterns.faults import break_gradient


def observe(code):
    model = break_gradient(torch.nn.Linear(3, 1))
    with contextlib.suppress(FloatingPointError):
        code.run(model, torch.optim.SGD(model.parameters(), lr=0.1), [(torch.randn(2, 3), torch.randn(2, 1))])
    return list(model.parameters())
