"""Command line of a training script."""

import argparse

import torch
from torch import nn


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="train")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--clip-grad", type=float, default=1e6, help="norm to clip at")  # expect: NAN401|NAN603
    return parser


def train_one(args: argparse.Namespace, model: nn.Module, batch) -> float:
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    x, y = batch
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    total_norm = nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad)  # expect: NAN401
    optimizer.step()
    optimizer.zero_grad()
    return float(total_norm)
