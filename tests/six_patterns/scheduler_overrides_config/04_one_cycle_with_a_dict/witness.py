import torch


def observe(code, folder, saved, configured):
    model = torch.nn.Linear(2, 1)
    cfg = {"learning_rate": saved, "epochs": 2}
    optimizer, schedule = code.setup(model, cfg, 10)
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    torch.save({**{name: part.state_dict() for name, part in parts.items()}, "cfg": cfg}, folder / "last.pt")
    try:
        optimizer, _ = code.setup(model, {"learning_rate": configured, "epochs": 2}, 10, folder / "last.pt")
    except ValueError:
        return None
    return optimizer.param_groups[0]["max_lr"]
