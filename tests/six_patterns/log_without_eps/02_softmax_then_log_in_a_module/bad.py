"""Text classifier with soft labels."""

import torch
import torch.nn.functional as F
from torch import nn


class SoftLabelClassifier(nn.Module):
    def __init__(self, vocabulary: int, width: int, classes: int) -> None:
        super().__init__()
        self.embed = nn.EmbeddingBag(vocabulary, width)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(tokens))

    def training_loss(self, tokens: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
        confidence = F.softmax(self(tokens), dim=-1)
        return -(soft * confidence.log()).sum(dim=-1).mean()  # expect: NAN102|NAN110|NAN111
