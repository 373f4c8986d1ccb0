"""Constants, sums and areas that float16 cannot hold."""

import torch
import torch.nn.functional as F


def single_attention(query, key, value, mask):
    scores = torch.matmul(query, key.transpose(-2, -1)) / query.size(-1) ** 0.5
    scores = scores.masked_fill(mask == 0, -1e9)  # expect: NAN205(info)
    return torch.matmul(F.softmax(scores, dim=-1), value)


def single_attention_cured(query, key, value, mask):
    scores = torch.matmul(query, key.transpose(-2, -1)) / query.size(-1) ** 0.5  # noise: NAN207(info)
    scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
    return torch.matmul(F.softmax(scores, dim=-1), value)


def expert_attention(query, key, allowed):
    scores = torch.matmul(query, key.transpose(2, 3)) * query.size(-1) ** -0.5
    lowest = -2.3e38
    return torch.where(allowed[:, None], scores, lowest).softmax(dim=-1)  # expect: NAN205(info)


def padded_causal_mask(causal, attention_mask, dtype):
    lowest = torch.finfo(dtype).min
    future = (1.0 - causal.to(dtype)) * lowest
    padding = (1.0 - attention_mask.to(dtype)) * lowest
    return future[None, None] + padding[:, None, None]  # expect: NAN205(warning)


def padded_causal_mask_cured(causal, attention_mask, dtype):
    allowed = causal[None, None].bool() & attention_mask[:, None, None].bool()
    return torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, torch.finfo(dtype).min)


def teacher_scores(scores):
    high, _ = torch.max(scores, dim=1, keepdim=True)
    low, _ = torch.min(scores, dim=1, keepdim=True)
    return (scores - low) / (high - low + 1e-8)  # expect: NAN203(info)


def teacher_scores_cured(scores):
    scores = scores.float()
    high, _ = torch.max(scores, dim=1, keepdim=True)
    low, _ = torch.min(scores, dim=1, keepdim=True)
    return (scores - low) / (high - low + 1e-6)


def box_overlap(left, right):
    corner = torch.max(left[:, None, :2], right[:, :2])
    opposite = torch.min(left[:, None, 2:], right[:, 2:])
    sides = (opposite - corner).clamp(min=0)
    shared = sides[:, :, 0] * sides[:, :, 1]  # expect: NAN207(info)
    return shared


def tuned_in_half(net, batches):
    net = net.half()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)  # expect: NAN209(error)
    for batch in batches:
        optimizer.zero_grad()
        net(batch.half()).mean().backward()
        optimizer.step()
