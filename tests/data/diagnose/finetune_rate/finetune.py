"""python finetune.py --config configs/finetune.yaml"""

import argparse

import torch
import yaml


def build(config):
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    state = torch.load(config["init"])
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])  # planted
    return model, optimizer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="configs/finetune.yaml")
    with open(parser.parse_args().config) as file:
        config = yaml.safe_load(file)
    model, optimizer = build(config)
    for step in range(config["max_steps"]):
        loss = model(torch.randn(16, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            raise RuntimeError(f"step {step}: gradient norm {norm}")
        optimizer.step()


if __name__ == "__main__":
    main()
