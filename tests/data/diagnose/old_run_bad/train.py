"""Activity recognition; a sensor that is off gives a constant window."""

import torch
import yaml
from features import smooth, standardise
from torch import nn


def main():
    with open("config.yaml") as file:
        config = yaml.safe_load(file)
    model = nn.Sequential(nn.Flatten(), nn.Linear(6 * 32, 64), nn.ReLU(), nn.Linear(64, 5))
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    for step in range(config["steps"]):
        windows = torch.randn(config["batch_size"], 6, 32)
        loss = nn.functional.cross_entropy(model(standardise(smooth(windows))), torch.randint(5, (config["batch_size"],)))
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            raise RuntimeError(f"step {step}: gradient norm {norm}")
        optimizer.step()
        if step % 100 == 99:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, f"{config['out']}/step_{step}.pt")


if __name__ == "__main__":
    main()
