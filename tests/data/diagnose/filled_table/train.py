"""Churn from a customer table; missing ages are filled with the median."""

import pandas
import torch
from loss import weighted_nll
from torch import nn


def main(path="data/customers.csv", lr=0.002):
    table = pandas.read_csv(path)
    table["age"] = table["age"].fillna(table["age"].median())
    values = torch.tensor(table[["age", "spent"]].to_numpy(), dtype=torch.float32)
    target = torch.tensor(table["left"].to_numpy())
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(300):
        loss = weighted_nll(model(values), target, torch.tensor([1.0, 20.0]))
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            raise RuntimeError(f"step {step}: gradient norm {norm}")
        optimizer.step()


if __name__ == "__main__":
    main()
