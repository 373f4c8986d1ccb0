"""Softmax over rows that a padding mask can fill with -inf."""

import numpy as np
import torch
from torch import nn


def history_attention(query, key, value, keep):
    scores = torch.matmul(query, key.transpose(-2, -1)) / query.size(-1) ** 0.5
    scores.masked_fill_(keep == 0, -np.inf)
    return torch.matmul((scores - scores.max()).softmax(dim=-1), value)  # not yet: NAN107


def history_attention_cured(query, key, value, keep):
    scores = torch.matmul(query, key.transpose(-2, -1)) / query.size(-1) ** 0.5  # noise: NAN207(info)
    scores = scores.masked_fill(keep == 0, torch.finfo(scores.dtype).min)
    return torch.matmul(scores.softmax(dim=-1), value)


class PaddedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, query, key, value, padding=None):
        scores = torch.bmm(query, key.transpose(1, 2))
        if padding is not None:
            scores.data.masked_fill_(padding, -float("inf"))
        return torch.bmm(self.softmax(scores), value)  # not yet: NAN107


def bucket_attention(scores, is_real):
    pairs = is_real[:, :, None] * is_real[:, None, :]
    scores.masked_fill_(~pairs, float("-inf"))
    return scores.softmax(dim=-1)  # not yet: NAN107


def bucket_attention_cured(scores, is_real):
    pairs = is_real[:, :, None] * is_real[:, None, :]
    scores.masked_fill_(~pairs, torch.finfo(scores.dtype).min)
    return scores.softmax(dim=-1)
