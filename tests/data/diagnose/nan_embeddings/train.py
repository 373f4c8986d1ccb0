"""A probe on embeddings that another script computed once."""

import torch
import yaml
from torch import nn


def main():
    with open("config.yaml") as file:
        config = yaml.safe_load(file)
    train = torch.load(config["data"]["train"])
    model = nn.Sequential(nn.LayerNorm(config["model"]["dim"]), nn.Linear(config["model"]["dim"], config["model"]["classes"]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["optim"]["lr"], weight_decay=config["optim"]["weight_decay"])
    for _ in range(config["epochs"]):
        for rows in torch.randperm(len(train["labels"])).split(config["batch_size"]):
            loss = nn.functional.cross_entropy(model(train["embeddings"][rows]), train["labels"][rows])
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), config["optim"]["max_grad_norm"])
            if not torch.isfinite(norm):
                raise RuntimeError("gradient is not finite")
            optimizer.step()
    torch.save(model.state_dict(), "probe.pt")


if __name__ == "__main__":
    main()
