from types import SimpleNamespace

import torch


def observe(code, folder, saved, configured):
    def make(rate):
        opt = SimpleNamespace(lr_g=rate, lr_d=rate)
        return code.Adversaries(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1), opt)

    make(saved).store(folder / "last.pt")
    resumed = make(configured)
    resumed.load(folder / "last.pt")
    return resumed.g_optim.param_groups[0]["lr"]
