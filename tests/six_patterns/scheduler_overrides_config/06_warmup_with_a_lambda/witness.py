from types import SimpleNamespace

import torch


def observe(code, folder, saved, configured):
    def run(peak):
        model = torch.nn.Sequential(torch.nn.Embedding(5, 4), torch.nn.Linear(4, 5))
        return code.Pretraining(model, SimpleNamespace(peak_lr=peak, warmup_steps=1))

    state = run(saved).state_dict()
    resumed = run(configured)
    resumed.load_state_dict(state)
    resumed.step(torch.tensor([[1, 2, 3]]))
    return resumed.optimizer.param_groups[0]["lr"]
