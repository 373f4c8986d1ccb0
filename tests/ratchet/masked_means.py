"""Divisions by a count or a sum of a mask that a batch can leave empty."""

import torch
import torch.nn.functional as F


def frame_loss(predicted, wanted, foreground):
    error = F.mse_loss(predicted * foreground, wanted * foreground, reduction="none")
    per_clip = error.sum([1, 2, 3]) / foreground.sum([1, 2, 3])  # expect: NAN101(warning)
    return per_clip.mean()


def frame_loss_cured(predicted, wanted, foreground):
    error = F.mse_loss(predicted * foreground, wanted * foreground, reduction="none")
    per_clip = error.sum([1, 2, 3]) / foreground.sum([1, 2, 3]).clamp(min=1)
    return per_clip.mean()


def overlap_loss(scores, wanted, num_objects):
    inside = scores.sigmoid().flatten(1)
    shared = 2 * (inside * wanted).sum(-1)
    whole = inside.sum(-1) + wanted.sum(-1)
    loss = 1 - (shared + 1) / (whole + 1)
    return loss.sum() / num_objects  # expect: NAN101(info)


def overlap_loss_cured(scores, wanted, num_objects):
    inside = scores.sigmoid().flatten(1)
    shared = 2 * (inside * wanted).sum(-1)  # noise: NAN207(info)
    whole = inside.sum(-1) + wanted.sum(-1)
    loss = 1 - (shared + 1) / (whole + 1)
    return loss.sum() / max(num_objects, 1)


def token_loss(logits, labels, num_tokens):
    total = F.cross_entropy(logits, labels, ignore_index=-100, reduction="sum")
    return total / num_tokens  # expect: NAN101(info)


def token_loss_cured(logits, labels):
    total = F.cross_entropy(logits, labels, ignore_index=-100, reduction="sum")
    return total / (labels != -100).sum().clamp(min=1)


def policy_step(log_probs, labels, advantages):
    keep = (labels != -100).float()
    weight = torch.exp(log_probs - log_probs.detach())
    per_answer = (-weight * keep).sum(-1) / keep.sum(-1)  # expect: NAN101(warning)
    loss = (per_answer * advantages).mean()
    loss.backward()
    return loss


def policy_step_cured(log_probs, labels, advantages):
    keep = (labels != -100).float()
    weight = torch.exp(log_probs - log_probs.detach())
    per_answer = (-weight * keep).sum(-1) / keep.sum(-1).clamp(min=1)
    loss = (per_answer * advantages).mean()
    loss.backward()
    return loss


def observed_mean(series, observed):
    centre = torch.sum(series, dim=1) / torch.sum(observed == 1, dim=1)  # expect: NAN101(warning)
    return series - centre.unsqueeze(1)


def observed_mean_cured(series, observed):
    centre = torch.sum(series, dim=1) / torch.sum(observed == 1, dim=1).clamp(min=1)
    return series - centre.unsqueeze(1)


def similarity_histogram(similarity, is_positive, bins):
    size = is_positive.sum().item()

    def histogram(chosen):
        near = (similarity.view(1, -1) - bins.view(-1, 1)).abs() * chosen.view(1, -1)
        return near.sum(1) / size  # expect: NAN101(warning)

    return histogram(is_positive)


def similarity_histogram_cured(similarity, is_positive, bins):
    size = max(is_positive.sum().item(), 1)

    def histogram(chosen):
        near = (similarity.view(1, -1) - bins.view(-1, 1)).abs() * chosen.view(1, -1)
        return near.sum(1) / size

    return histogram(is_positive)


def neighbour_mean(features, adjacency):
    gathered = torch.matmul(adjacency, features)
    return gathered / adjacency.sum(dim=-1, keepdim=True)  # expect: NAN101(warning)


def neighbour_mean_cured(features, adjacency):
    gathered = torch.matmul(adjacency, features)
    return gathered / adjacency.sum(dim=-1, keepdim=True).clamp(min=1)


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()  # expect: NAN101(warning)


def masked_mean_cured(values, mask):
    return (values * mask).sum() / mask.sum().clamp(min=1)
