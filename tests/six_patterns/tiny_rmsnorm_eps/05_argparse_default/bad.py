"""Train a regressor; the norm's constant is an option."""

import argparse

import torch
from torch import nn


def parse(argv=None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--norm-eps", type=float, default=1e-24)  # expect: NAN204|NAN603
    return parser.parse_args(argv)


class Net(nn.Module):
    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(args.width, eps=args.norm_eps)  # expect: NAN204
        self.out = nn.Linear(args.width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.norm(x))


def main(argv=None) -> None:
    args = parse(argv)
    net = Net(args)
    optimizer = torch.optim.AdamW(net.parameters(), lr=args.lr)
    for _ in range(10):
        optimizer.zero_grad()
        net(torch.randn(16, args.width)).square().mean().backward()
        optimizer.step()
