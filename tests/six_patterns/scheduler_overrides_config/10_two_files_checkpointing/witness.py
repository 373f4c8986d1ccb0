import torch


def observe(code, folder, saved, configured):
    config = {"lr": saved, "momentum": 0.9, "milestones": [30]}
    model = torch.nn.Linear(2, 1)
    optimizer, scheduler, _ = code.start(config, model)
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    torch.save({**{name: part.state_dict() for name, part in parts.items()}, "epoch": 1}, folder / "last.pt")
    optimizer, _, _ = code.start({**config, "lr": configured, "resume": str(folder / "last.pt")}, model)
    return optimizer.param_groups[0]["lr"]
