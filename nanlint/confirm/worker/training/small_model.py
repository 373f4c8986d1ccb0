"""A model for code that would download one: it takes whatever it is given and has a loss if there are labels."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as everybody calls it

_WIDTH, _CLASSES, _WORDS = 8, 2, 64


class Output(dict[str, Any]):
    """A result with keys and attributes, as transformers' models give it."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class SmallModel(nn.Module):
    """Embeds tokens, averages anything else to a few numbers, and scores two classes."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(_WORDS, _WIDTH)
        self.head = nn.Linear(_WIDTH, _CLASSES)
        # Of one sign, so that an infinite gradient stays one.
        self.head.weight.data.abs_()
        self.config = Output(hidden_size=_WIDTH, num_labels=_CLASSES, vocab_size=_WORDS)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The scores of the first tensor that there is; with names, an output with a loss."""
        tensors = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor)]
        given = tensors[0] if tensors else torch.ones(2, _WIDTH, device=self.head.weight.device)
        if given.is_floating_point():
            flat = given.flatten(1) if given.dim() > 1 else given.reshape(-1, 1)
            # Every weight takes part, so that every one has a gradient.
            hidden = F.adaptive_avg_pool1d(flat[:, None], _WIDTH)[:, 0] + self.embedding.weight[0]
        else:
            hidden = self.embedding(given.clamp(0, _WORDS - 1))
            hidden = hidden.flatten(1, -2).mean(1) if hidden.dim() > 2 else hidden
        logits = self.head(hidden)
        labels = kwargs.get("labels")
        if not kwargs:
            return logits
        loss = F.cross_entropy(logits, labels.flatten()[: len(logits)].clamp(0, 1)) if labels is not None else None
        return Output(loss=loss, logits=logits)

    def save_pretrained(self, *_: object, **__: object) -> None:
        """Saved nowhere."""

    gradient_checkpointing_enable = resize_token_embeddings = save_pretrained
