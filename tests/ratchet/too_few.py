"""Statistics and losses over a selection, a batch or a map that can hold one element or none."""

import torch
import torch.nn.functional as F
from torch import nn


def hardest_margin(logits, has_label):
    worst = torch.logsumexp(logits, dim=1)[has_label]
    return F.softplus(worst).mean()  # not yet: NAN106


def hardest_margin_cured(logits, has_label):
    if not has_label.any():
        return logits.sum() * 0
    worst = torch.logsumexp(logits, dim=1)[has_label]
    return F.softplus(worst).mean()


class Finetuner:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.loss_fn = nn.CrossEntropyLoss(ignore_index=-100)

    def step(self, tokens, labels):
        logits = self.model(tokens)
        loss = self.loss_fn(logits.flatten(0, 1), labels.flatten())  # not yet: NAN108
        loss.backward()
        self.optimizer.step()


def answer_loss(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=-100)  # expect: NAN108(warning)


def answer_loss_cured(logits, labels):
    total = F.cross_entropy(logits, labels, ignore_index=-100, reduction="sum")
    return total / (labels != -100).sum().clamp(min=1)


def normalised_advantages(advantages):
    return (advantages - advantages.mean()) / (advantages.std() + 1e-5)  # expect: NAN106(warning)


def normalised_advantages_cured(advantages):
    return (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-5)


def map_deviation(maps, eps=1e-5):
    spread = torch.var(maps, dim=(2, 3), keepdim=True)  # expect: NAN106(info)
    return torch.sqrt(spread + eps)


def map_deviation_cured(maps, eps=1e-5):
    spread = torch.var(maps, dim=(2, 3), keepdim=True, correction=0)  # noise: NAN207(info)
    return torch.sqrt(spread + eps)
