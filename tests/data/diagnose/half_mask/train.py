"""Lightning trains the encoder in 16-mixed."""

import lightning
import torch
import yaml
from encoder import Pooler


class Task(lightning.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.lr = lr
        self.embed = torch.nn.Embedding(100, 16, padding_idx=0)
        self.pool = Pooler()
        self.head = torch.nn.Linear(16, 2)

    def training_step(self, batch, index):
        tokens, labels = batch
        logits = self.head(self.pool(self.embed(tokens), tokens == 0))
        return torch.nn.functional.cross_entropy(logits, labels)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.lr)


def main(loader):
    with open("config.yaml") as file:
        config = yaml.safe_load(file)
    trainer = lightning.Trainer(**config["trainer"])
    trainer.fit(Task(config["optim"]["lr"]), loader)
