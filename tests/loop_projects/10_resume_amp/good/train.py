"""A run that is resumed: the rate is that of the arguments, and the scaler comes back."""

import argparse
import os

import torch
from torch import nn
from torch.cuda.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--resume", type=str, default="", help="path of a checkpoint")
    parser.add_argument("--output", type=str, default="checkpoints")
    return parser.parse_args()


def main(args):
    model = nn.Sequential(nn.Flatten(), nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    scaler = GradScaler()
    data = TensorDataset(torch.randn(512, 3, 4, 4), torch.randint(0, 10, (512,)))
    loader = DataLoader(data, batch_size=32, shuffle=True, pin_memory=True, num_workers=2)
    start_epoch = 0
    if args.resume:
        checkpoint = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scaler.load_state_dict(checkpoint["scaler"])
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"] = args.lr
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
        start_epoch = checkpoint["epoch"] + 1
    for epoch in range(start_epoch, args.epochs):
        for images, labels in loader:
            images, labels = images.cuda(non_blocking=True), labels.cuda(non_blocking=True)
            optimizer.zero_grad()
            with autocast():
                loss = criterion(model(images), labels)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            if torch.isfinite(norm):
                scheduler.step()
        if not all(torch.isfinite(p).all() for p in model.parameters()):
            raise RuntimeError("the weights are not finite")
        os.makedirs(args.output, exist_ok=True)
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scaler": scaler.state_dict(), "epoch": epoch}, os.path.join(args.output, "last.pt"))


if __name__ == "__main__":
    main(get_args())
