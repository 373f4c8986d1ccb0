"""Segmentation, resumed every night from the newest checkpoint in runs/."""

import argparse
from pathlib import Path

import torch
from torch import nn


def newest(folder):
    return max(Path(folder).glob("step-*.pt"), key=lambda path: int(path.stem.split("-")[1]), default=None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--runs", default="runs")
    args = parser.parse_args()
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    step = 0
    path = newest(args.runs)
    if path is not None:
        state = torch.load(path)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
    while step < args.steps:
        images, labels = torch.rand(4, 3, 16, 16), torch.randint(2, (4, 16, 16))
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            raise RuntimeError(f"step {step}: gradient norm {norm}")
        optimizer.step()
        step += 1


if __name__ == "__main__":
    main()
