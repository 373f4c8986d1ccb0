"""Regression on a noisy sine, with plain SGD."""

import torch
import yaml
from torch import nn


def batches(count, size):
    generator = torch.Generator().manual_seed(0)
    for _ in range(count):
        x = torch.rand(size, 4, generator=generator) * 6
        yield x, x.sin().sum(dim=1, keepdim=True) * 10


def main():
    torch.manual_seed(0)
    with open("config.yaml") as file:
        config = yaml.safe_load(file)
    model = nn.Sequential(nn.Linear(4, config["hidden"]), nn.ReLU(), nn.Linear(config["hidden"], 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=config["momentum"])
    for step, (x, y) in enumerate(batches(config["steps"], config["batch_size"])):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(step, loss.item())


if __name__ == "__main__":
    main()
