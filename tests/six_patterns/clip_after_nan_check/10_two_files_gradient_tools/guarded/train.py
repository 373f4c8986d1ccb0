"""Train a translation model."""

import torch

from tools.gradients import limit


def train(model, loader, optimizer: torch.optim.Optimizer, bound: float, writer=None) -> None:
    for step, (source, target) in enumerate(loader):
        optimizer.zero_grad()
        loss = model(source, target)
        if not loss.isfinite():
            raise FloatingPointError(f"loss {loss.item()} at step {step}")
        loss.backward()
        norm = limit(model.parameters(), bound)
        if not norm.isfinite():
            raise FloatingPointError(f"gradient norm {norm.item()} at step {step}")
        if writer is not None:
            writer.add_scalar("grad_norm", norm, step)
        optimizer.step()
