"""A training run that looks careful and is lost at step 12; `nanlint check examples/` finds the four lines why.

With torch installed, `python examples/train.py` shows it happen: one odd batch, and every later loss is NaN.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import nn

ODD_STEP = 12


def batches(steps: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Two separable classes; at one step a sample arrives that somebody forgot to normalise."""
    for step in range(steps):
        labels = torch.arange(32) % 2
        inputs = torch.randn(32, 8) + labels[:, None]
        if step == ODD_STEP:
            inputs[0] *= 500.0
        yield inputs, labels


def classification_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    probs = torch.softmax(logits, dim=-1)
    return F.nll_loss(torch.log(probs), labels)


def train(model: nn.Module, steps: int, clip: float | None = None) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step, (inputs, labels) in enumerate(batches(steps)):
        loss = classification_loss(model(inputs), labels)
        if torch.isnan(loss):
            print(f"step {step:2}: loss is NaN, batch skipped")
            continue
        optimizer.zero_grad()
        loss.backward()
        if clip is not None:
            norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
        else:
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1e6)
        optimizer.step()
        print(f"step {step:2}: loss {loss.item():8.4f}  gradient norm {norm.item():8.4f}")


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
    train(model, steps=16)
    finite = all(bool(parameter.isfinite().all()) for parameter in model.parameters())
    print("parameters:", "finite" if finite else "NaN, and no later batch can bring them back")


if __name__ == "__main__":
    main()
