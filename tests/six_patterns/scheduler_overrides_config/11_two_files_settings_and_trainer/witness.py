import torch


def observe(code, folder, saved, configured):
    settings = code.Settings()
    settings.rates.start = saved
    torch.save(code.Learner(torch.nn.Linear(2, 1), settings).snapshot(), folder / "last.pt")
    settings.rates.start = configured
    settings.continue_from = str(folder / "last.pt")
    return code.Learner(torch.nn.Linear(2, 1), settings).solver.param_groups[0]["lr"]
