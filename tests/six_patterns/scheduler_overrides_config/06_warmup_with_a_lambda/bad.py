"""Language model with a linear warmup."""

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


class Pretraining:
    def __init__(self, model: nn.Module, hp) -> None:
        self.model = model
        self.hp = hp
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=hp.peak_lr)
        self.warmup = LambdaLR(self.optimizer, lambda step: min(1.0, (step + 1) / hp.warmup_steps))

    def state_dict(self) -> dict:
        return {"model": self.model.state_dict(), "warmup": self.warmup.state_dict()}

    def load_state_dict(self, state: dict) -> None:
        self.model.load_state_dict(state["model"])
        self.warmup.load_state_dict(state["warmup"])  # expect: NAN501

    def step(self, tokens: torch.Tensor) -> float:
        logits = self.model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.warmup.step()
        return loss.item()
