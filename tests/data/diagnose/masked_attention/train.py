"""Sentiment of reviews; a review of unknown words only becomes a row of padding."""

import torch
import yaml
from attention import Classifier


def main():
    with open("config.yaml") as file:
        config = yaml.safe_load(file)
    model = Classifier(**config["model"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    for step in range(config["steps"]):
        tokens = torch.randint(1, 100, (config["batch_size"], 12))
        tokens[torch.arange(12) >= torch.randint(0, 13, (config["batch_size"], 1))] = 0
        loss = torch.nn.functional.cross_entropy(model(tokens), torch.randint(2, (config["batch_size"],)))
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config["grad_clip"])
        if not torch.isfinite(norm):
            raise RuntimeError(f"step {step}: gradient norm {norm}")
        optimizer.step()


if __name__ == "__main__":
    main()
