"""House prices from a table: a regression with standardised columns."""

import csv
import sys

import torch
from torch import nn

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def table(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != "price"]
    values = torch.tensor([[float(row[name] or "nan") for name in names] for row in rows])
    prices = torch.tensor([[float(row["price"])] for row in rows])
    return values, prices


def main():
    with open("settings.toml", "rb") as file:
        settings = tomllib.load(file)
    values, prices = table(settings["data"]["train"])
    values = (values - values.mean(dim=0)) / values.std(dim=0).clamp(min=1e-6)
    model = nn.Sequential(nn.Linear(values.shape[1], 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["train"]["learning_rate"])
    for _ in range(settings["train"]["epochs"]):
        for rows in torch.randperm(len(values)).split(settings["train"]["batch_size"]):
            loss = nn.functional.smooth_l1_loss(model(values[rows]), prices[rows] / 1e5)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), settings["train"]["grad_clip"], error_if_nonfinite=True)
            optimizer.step()


if __name__ == "__main__":
    main()
