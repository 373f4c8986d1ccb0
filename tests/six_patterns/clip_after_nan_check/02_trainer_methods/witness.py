import contextlib

import torch

from tests.six_patterns.faults import break_gradient


def observe(code):
    trainer = code.Trainer(break_gradient(torch.nn.Linear(3, 1)), lr=0.1)
    with contextlib.suppress(RuntimeError):
        trainer.train_step((torch.randn(2, 3), torch.randn(2, 1)))
    return list(trainer.model.parameters())
