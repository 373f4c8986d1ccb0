from types import SimpleNamespace

import torch


def observe(code, folder, saved, configured):
    net = torch.nn.Linear(2, 1)
    adam, decay, step = code.build(SimpleNamespace(lr=saved, gamma=0.9, restart=None), net)
    state = {"net": net.state_dict(), "adam": adam.state_dict(), "decay": decay.state_dict(), "step": step}
    torch.save(state, folder / "last.pt")
    args = SimpleNamespace(lr=configured, gamma=0.9, restart=folder / "last.pt")
    adam, _, _ = code.build(args, net)
    return adam.param_groups[0]["lr"]
