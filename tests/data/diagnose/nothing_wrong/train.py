"""A regression that works."""

import numpy as np
import torch
import yaml
from torch import nn


class Net(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, width), nn.LayerNorm(width), nn.GELU(), nn.Linear(width, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def regression_loss(pred: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return nn.functional.smooth_l1_loss(pred, target)


def main():
    with open("config.yaml") as file:
        config = yaml.safe_load(file)
    points = torch.from_numpy(np.load(config["data"]))
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    for step in range(config["steps"]):
        rows = torch.randint(len(points), (config["batch_size"],))
        loss = regression_loss(model(points[rows, :4]), points[rows, 4:])
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            raise RuntimeError(f"step {step}: gradient norm {norm}")
        optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": config["steps"]}, "last.pt")


if __name__ == "__main__":
    main()
