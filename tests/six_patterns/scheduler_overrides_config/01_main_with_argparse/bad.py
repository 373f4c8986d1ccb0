"""Train an image classifier."""

import argparse

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR


def parse(argv=None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--resume", default="")
    return parser.parse_args(argv)


def main(args: argparse.Namespace, model: nn.Module, loader) -> torch.optim.Optimizer:
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scheduler = CosineAnnealingLR(optimizer, T_max=args.epochs)
    start = 0
    if args.resume:
        checkpoint = torch.load(args.resume, weights_only=True)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])  # expect: NAN501
        scheduler.load_state_dict(checkpoint["scheduler"])  # expect: NAN501
        start = checkpoint["epoch"] + 1
    for _ in range(start, args.epochs):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        scheduler.step()
    return optimizer
