"""Infinities that meet a mask, each other, or memory that nobody has written."""

import torch


def known_norm(norm):
    is_bad = norm.isnan().logical_or(norm.isinf())
    return is_bad * -1.0 + is_bad.logical_not() * norm  # expect: NAN303(info)


def known_norm_cured(norm):
    return torch.where(torch.isfinite(norm), norm, -1.0)


def angle_terms(distance, keep):
    return (1 / distance) * keep  # not yet: NAN303


def angle_terms_cured(distance, keep):
    return torch.where(keep, 1 / torch.where(keep, distance, 1.0).clamp_min(0.1), 0.0)


def kept_sum(values, keep):
    return (values.log() * keep).sum()  # not yet: NAN303


def log_difference(log_large, log_small):
    return log_large + torch.log1p(-torch.exp(log_small - log_large))  # expect: NAN102(warning)


def shifted(scores, keep):
    scores = scores.masked_fill(~keep, -torch.inf)
    return (scores - scores.max(-1, keepdim=True)[0]).exp()  # expect: NAN303(info)


def padded_colours(colours, missing):
    return torch.cat([colours, torch.empty(*colours.shape[:-1], missing)], dim=-1)  # expect: NAN601(info)


def padded_colours_cured(colours, missing):
    return torch.cat([colours, torch.zeros(*colours.shape[:-1], missing)], dim=-1)
