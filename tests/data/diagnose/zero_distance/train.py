"""Faces; the positive is another picture of the same person, or by chance the same picture."""

import torch
import yaml
from triplet import triplet


def main():
    torch.manual_seed(0)
    with open("config.yaml") as file:
        config = yaml.safe_load(file)
    model = torch.nn.Linear(8, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    pictures = torch.randn(10, 8)
    for step in range(config["steps"]):
        first, second, third = torch.randint(10, (3, 4))
        loss = triplet(model(pictures[first]), model(pictures[second]), model(pictures[third]), config["margin"])
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            raise RuntimeError(f"step {step}: gradient norm {norm}")
        optimizer.step()


if __name__ == "__main__":
    main()
