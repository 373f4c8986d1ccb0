"""Loss of a language model over the tokens that count."""

import torch
import torch.nn.functional as F

IGNORED = -100


def token_loss(logits: torch.Tensor, labels: torch.Tensor, smoothing: float = 0.1) -> torch.Tensor:
    """Mean cross entropy per real token; `labels` are IGNORED on prompts and padding."""
    flat = logits.reshape(-1, logits.size(-1))
    targets = labels.reshape(-1)
    real = targets != IGNORED
    per_token = F.cross_entropy(flat, targets.clamp(min=0), reduction="none", label_smoothing=smoothing)
    return (per_token * real).sum() / real.sum().clamp(min=1)


def train_step(model, optimizer, batch):
    optimizer.zero_grad()
    loss = token_loss(model(batch["ids"]), batch["labels"])
    loss.backward()
    optimizer.step()
    return loss.detach()
