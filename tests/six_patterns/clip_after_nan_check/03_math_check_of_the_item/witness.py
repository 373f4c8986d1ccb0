import contextlib

import torch

from tests.six_patterns.faults import break_gradient


def observe(code):
    net = break_gradient(torch.nn.Linear(3, 1))
    with contextlib.suppress(RuntimeError):
        code.fit(net, [(torch.randn(2, 3), torch.randn(2, 1))], 1, 0.1)
    return list(net.parameters())
