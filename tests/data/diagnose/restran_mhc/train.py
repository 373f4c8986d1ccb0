"""python train.py resumes from results/last.pth if that is there."""

import torch

from configs import config
from src.models.components import ResTran
from src.training.trainer import Trainer


def loader(settings):
    for _ in range(settings.STEPS_PER_EPOCH):
        yield torch.rand(settings.BATCH_SIZE, 3, 4, 4), torch.randint(37, (settings.BATCH_SIZE,))


def main():
    model = ResTran(config.MHC_N)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.LEARNING_RATE)
    total = config.EPOCHS * config.STEPS_PER_EPOCH
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=config.LEARNING_RATE, total_steps=total)
    trainer = Trainer(model, optimizer, scheduler, config)
    trainer.resume(f"{config.RESULTS}/last.pth")
    while trainer.epoch < config.EPOCHS:
        trainer.train_epoch(loader(config))
        trainer.save(f"{config.RESULTS}/last.pth")


if __name__ == "__main__":
    main()
