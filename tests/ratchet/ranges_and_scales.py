"""Divisions by a range, a scale, an energy or a temperature that ordinary data can make 0."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def eigenvalue_spread(features):
    def to_unit(values):
        low, high = torch.min(values), torch.max(values)
        return (values - low) / (high - low)  # expect: NAN101(warning)

    unit = F.normalize(features, p=2, dim=1)
    return to_unit(torch.linalg.eigvalsh(unit @ unit.t()))


def eigenvalue_spread_cured(features):
    def to_unit(values):
        low, high = torch.min(values), torch.max(values)
        return (values - low) / (high - low).clamp_min(1e-6)

    unit = F.normalize(features, p=2, dim=1)  # noise: NAN203(info)
    return to_unit(torch.linalg.eigvalsh(unit @ unit.t()))


def level_clip(clean, noisy):
    noisy = torch.FloatTensor(noisy)
    factor = torch.sqrt(len(noisy) / torch.sum(noisy**2.0))  # expect: NAN101(warning)
    return clean * factor, noisy * factor


def level_clip_cured(clean, noisy):
    noisy = torch.FloatTensor(noisy)
    factor = torch.sqrt(len(noisy) / torch.sum(noisy**2.0).clamp_min(1e-6))
    return clean * factor, noisy * factor


class ClassWeights(nn.Module):
    def __init__(self, beta, samples_per_class):
        super().__init__()
        self.beta = beta
        self.samples_per_class = samples_per_class

    def forward(self, logits, labels):
        effective = 1.0 - np.power(self.beta, self.samples_per_class)
        weights = (1.0 - self.beta) / np.array(effective)  # not yet: NAN101
        weights = weights / np.sum(weights)
        return F.cross_entropy(logits, labels, weight=torch.tensor(weights).float())


class ClassWeights_cured(nn.Module):
    def __init__(self, beta, samples_per_class):
        super().__init__()
        self.beta = beta
        self.samples_per_class = samples_per_class

    def forward(self, logits, labels):
        effective = 1.0 - np.power(self.beta, np.maximum(self.samples_per_class, 1))
        weights = (1.0 - self.beta) / np.maximum(effective, 1e-6)
        weights = weights / np.maximum(np.sum(weights), 1e-6)
        return F.cross_entropy(logits, labels, weight=torch.tensor(weights).float())


def projection(estimate, target):
    scale = (estimate * target).sum(-1) / (target**2).sum(-1)  # expect: NAN101(warning)
    return target * scale.unsqueeze(-1)


def projection_cured(estimate, target):
    scale = (estimate * target).sum(-1) / ((target**2).sum(-1) + 1e-6)
    return target * scale.unsqueeze(-1)


class UnitBox(nn.Module):
    def forward(self, points):
        if self.training:
            self.low = points.min(dim=-2, keepdim=True)[0]
            self.width = points.max(dim=-2, keepdim=True)[0] - self.low
        return (points - self.low) / self.width  # expect: NAN101(warning)


class UnitBox_cured(nn.Module):
    def forward(self, points):
        if self.training:
            self.low = points.min(dim=-2, keepdim=True)[0]
            self.width = (points.max(dim=-2, keepdim=True)[0] - self.low).clamp_min(1e-6)
        return (points - self.low) / self.width


def grid_position(points, grid):
    spacing = grid[1] - grid[0]
    return torch.floor((points - grid[0]) / spacing)  # expect: NAN101(info)


def grid_position_cured(points, grid):
    spacing = (grid[1] - grid[0]).clamp_min(1e-6)
    return torch.floor((points - grid[0]) / spacing)


def rescaled_maps(maps):
    flat = maps.view(maps.size(0), maps.size(1), -1)
    high = flat.max(dim=-1)[0][:, :, None, None]
    low = flat.min(dim=-1)[0][:, :, None, None]
    return (maps - low) / (high - low)  # expect: NAN101(warning)


def rescaled_maps_cured(maps):
    flat = maps.view(maps.size(0), maps.size(1), -1)
    high = flat.max(dim=-1)[0][:, :, None, None]
    low = flat.min(dim=-1)[0][:, :, None, None]
    return (maps - low) / (high - low).clamp_min(1e-6)


def stretched_in_place(image, low, high):
    image.clamp_(min=low, max=high)
    image.add_(-low).div_(high - low)  # expect: NAN101(warning)
    return image


def stretched_in_place_cured(image, low, high):
    image.clamp_(min=low, max=high)
    image.add_(-low).div_(max(high - low, 1e-5))
    return image


def relative_error(forecast, actual):
    return 2 * (forecast - actual).abs() / (forecast.abs() + actual.abs())  # expect: NAN101(warning)


def relative_error_cured(forecast, actual):
    return 2 * (forecast - actual).abs() / (forecast.abs() + actual.abs() + 1e-6)


def attenuated(messages, degree, average):
    return messages * (average / torch.log(degree + 1))  # not yet: NAN101


def attenuated_cured(messages, degree, average):
    return messages * (average / torch.log(degree.clamp(min=1) + 1))


def unit_cloud(points):
    return points / points.max()  # expect: NAN101(warning)


def unit_cloud_cured(points):
    return points / points.abs().max().clamp_min(1e-6)


def by_own_sum(gradient, activation):
    return (gradient * activation).flatten(2).sum(-1) / activation.flatten(2).sum(-1)  # expect: NAN101(warning)


def by_first_lag(correlation):
    return correlation / correlation[..., :1]  # expect: NAN101(info)


def by_first_lag_cured(correlation):
    return correlation / correlation[..., :1].clamp(min=1e-6)


def next_token(logits, temperature=1.0):
    chances = torch.softmax(logits / temperature, dim=-1)  # expect: NAN208(warning)
    return torch.multinomial(chances, 1)


def next_token_cured(logits, temperature=1.0):
    if temperature > 0.05:
        return torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1)
    return logits.argmax(dim=-1, keepdim=True)


class LearnedScale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, series):
        return series / torch.relu(self.gain + 1e-5)  # expect: NAN211(warning)


class LearnedScale_cured(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, series):
        return series / (torch.relu(self.gain) + 1e-5)
