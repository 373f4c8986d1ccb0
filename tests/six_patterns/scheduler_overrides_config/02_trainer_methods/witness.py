import torch


def observe(code, folder, saved, configured):
    code.Trainer(torch.nn.Linear(2, 1), saved).save(folder / "last.pt")
    trainer = code.Trainer(torch.nn.Linear(2, 1), configured)
    trainer.resume(folder / "last.pt")
    trainer.train_epoch([(torch.zeros(1, 2), torch.zeros(1, 1))])
    return trainer.optimizer.param_groups[0]["lr"]
