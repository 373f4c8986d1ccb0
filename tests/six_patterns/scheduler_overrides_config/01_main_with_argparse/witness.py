import torch


def observe(code, folder, saved, configured):
    """A checkpoint made with `saved`; the next run asks for `configured`."""
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=saved, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=1)
    state = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    torch.save({**{name: part.state_dict() for name, part in state.items()}, "epoch": 0}, folder / "last.pt")
    args = code.parse(["--lr", str(configured), "--epochs", "1", "--resume", str(folder / "last.pt")])
    return code.main(args, torch.nn.Linear(2, 2), []).param_groups[0]["lr"]
