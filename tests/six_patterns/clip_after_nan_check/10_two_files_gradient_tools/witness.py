import contextlib

import torch

from tests.six_patterns.faults import break_gradient


class Translator(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(3, 1)

    def forward(self, source, target):
        return (self.net(source) - target).abs().mean()


def observe(code):
    model = break_gradient(Translator())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with contextlib.suppress(FloatingPointError):
        code.train(model, [(torch.randn(2, 3), torch.randn(2, 1))], optimizer, 1.0)
    return list(model.parameters())
