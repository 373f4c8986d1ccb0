"""Train an adapter with Accelerate."""

import torch
from accelerate import Accelerator


class AdapterRun:
    def __init__(self, model, loader, lr: float) -> None:
        self.accelerator = Accelerator(gradient_accumulation_steps=4)
        optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=lr)
        self.model, self.optimizer, self.loader = self.accelerator.prepare(model, optimizer, loader)

    def epoch(self) -> None:
        for batch in self.loader:
            with self.accelerator.accumulate(self.model):
                self.accelerator.backward(self.model(**batch).loss)
                if self.accelerator.sync_gradients:
                    self.accelerator.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad()
