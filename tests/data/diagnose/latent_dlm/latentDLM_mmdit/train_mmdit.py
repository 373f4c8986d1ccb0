"""The training loop of the latent diffusion language model."""

import sys
from types import SimpleNamespace

import torch
import yaml
from improved_trainer import Trainer


def to_namespace(value):
    if isinstance(value, dict):
        return SimpleNamespace(**{key: to_namespace(each) for key, each in value.items()})
    return value


def data(steps, batch_size, dim=16):
    for _ in range(steps):
        yield {
            "text": torch.randint(50, (batch_size, 8)),
            "target": torch.randint(50, (batch_size, 8)),
            "mask": torch.rand(batch_size, 8) > 0.5,
            "latent": torch.randn(batch_size, 8, dim),
        }


def train(trainer, optimizer, scheduler, config):
    weights = (config.loss.text_loss_weight, config.loss.latent_loss_weight)
    for step, batch in enumerate(data(config.training.num_train_steps, config.training.train_batch_size)):
        optimizer.zero_grad(set_to_none=True)
        loss = trainer(batch, weights)
        (loss * config.loss.loss_scale).backward()

        if config.optimizer.grad_clip_norm and config.optimizer.grad_clip_norm > 0:
            norm = torch.nn.utils.clip_grad_norm_(trainer.parameters(), config.optimizer.grad_clip_norm)
        else:
            norm = torch.nn.utils.clip_grad_norm_(trainer.parameters(), 1e6)  # planted

        if torch.isnan(norm):  # planted
            print(f"Warning: NaN gradient detected at step {step}")  # planted
            for param in trainer.parameters():  # planted
                if param.grad is not None:  # planted
                    param.grad.data.zero_()  # planted

        optimizer.step()  # planted
        scheduler.step()


def main(path):
    with open(path) as file:
        config = to_namespace(yaml.safe_load(file))
    trainer = Trainer()
    optimizer = torch.optim.AdamW(trainer.parameters(), lr=float(config.optimizer.lr))
    warmup = config.training.warmup_steps
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warmup))
    train(trainer, optimizer, scheduler, config)


if __name__ == "__main__":
    main(sys.argv[1])
