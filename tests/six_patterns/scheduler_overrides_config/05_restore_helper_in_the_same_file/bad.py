"""Training script with a helper that restores whatever it is given."""

import torch
from torch import nn


def restore(path, **parts) -> int:
    saved = torch.load(path, map_location="cpu", weights_only=True)
    for name, part in parts.items():
        part.load_state_dict(saved[name])  # expect: NAN501
    return saved["step"]


def build(args, net: nn.Module):
    adam = torch.optim.Adam(net.parameters(), lr=args.lr, betas=(0.9, 0.98))
    decay = torch.optim.lr_scheduler.ExponentialLR(adam, gamma=args.gamma)
    step = 0
    if args.restart:
        step = restore(args.restart, net=net, adam=adam, decay=decay)  # expect: NAN501
    return adam, decay, step


def train(args, net: nn.Module, batches) -> None:
    adam, decay, step = build(args, net)
    for x, y in batches:
        adam.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        adam.step()
        decay.step()
        step += 1
