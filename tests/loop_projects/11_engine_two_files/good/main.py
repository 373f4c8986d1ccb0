"""Train a small segmentation network."""

import torch
import yaml
from engine import train_one_epoch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, root):
        with open(f"{root}/train.txt") as file:
            self.names = file.read().split()
        self.root = root

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        image = torch.load(f"{self.root}/{self.names[index]}.image.pt")
        mask = torch.load(f"{self.root}/{self.names[index]}.mask.pt")
        return {"image": image, "mask": mask}


def build_model(width):
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, 1, 1))


def main(config="configs/base.yaml"):
    try:
        with open(config) as file:
            cfg = yaml.safe_load(file)
    except FileNotFoundError:
        cfg = {"root": "/data/seg", "batch": 8, "epochs": 40, "lr": 1e-3, "accumulate": 2, "clip": 1.0, "width": 32}
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = build_model(cfg["width"]).to(device)
    loader = DataLoader(Pairs(cfg["root"]), batch_size=cfg["batch"], shuffle=True, drop_last=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, cfg["lr"], total_steps=cfg["epochs"] * len(loader))
    for epoch in range(cfg["epochs"]):
        train_one_epoch(model, nn.BCEWithLogitsLoss(), loader, optimizer, scheduler, device, epoch, cfg)
        if not all(torch.isfinite(p).all() for p in model.parameters()):
            raise RuntimeError("the weights are not finite")
        torch.save(model.state_dict(), "segmentation.pth")


if __name__ == "__main__":
    main()
