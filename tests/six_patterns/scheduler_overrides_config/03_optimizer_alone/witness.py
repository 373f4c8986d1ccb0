import torch


def observe(code, folder, saved, configured):
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.AdamW(net.parameters(), lr=saved)
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, folder / "last.pt")
    cfg = code.FinetuneConfig(lr=configured, checkpoint=str(folder / "last.pt"))
    return code.prepare(net, cfg).param_groups[0]["lr"]
