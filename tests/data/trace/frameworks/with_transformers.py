"""The sixth of twelve batches breaks the gradient, in the loop of the Trainer."""
import sys
import tempfile

import torch
from torch import nn
from transformers import Trainer, TrainingArguments


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 3))

    def forward(self, x=None, mark=None, labels=None):
        outputs = self.net(x) * mark
        loss = outputs.pow(2).sum(-1).sqrt().mean()  # origin: sqrt backward
        return {"loss": loss, "logits": outputs}


class InOrder(Trainer):
    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)


torch.manual_seed(0)
data = [
    {"x": torch.randn(4), "mark": torch.tensor([0.0 if 40 <= number < 48 else 1.0]), "labels": torch.tensor(0)}
    for number in range(96)
]
arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    per_device_train_batch_size=8,
    num_train_epochs=1,
    use_cpu=True,
    report_to=[],
    save_strategy="no",
    logging_strategy="no",
    gradient_accumulation_steps=2 if "accumulate" in sys.argv else 1,
    disable_tqdm=True,
)
InOrder(model=Net(), args=arguments, train_dataset=data).train()
