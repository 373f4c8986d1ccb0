"""Exponentials of what a network or a policy can drive past 88.7."""

import torch
from torch import nn
from torch.distributions import Normal


def closeness(distance, width):
    near = torch.exp((1 - distance) / width)  # not yet: NAN201
    return near / torch.sum(near, dim=2, keepdim=True)  # expect: NAN202(warning)


def closeness_cured(distance, width):
    return torch.softmax((1 - distance) / max(width, 0.1), dim=2)


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = nn.Linear(width, 2 * width)

    def forward(self, batch):
        centre, log_variance = self.head(batch).chunk(2, dim=-1)
        deviation = torch.exp(0.5 * log_variance)  # expect: NAN201(warning)
        code = centre + deviation * torch.randn_like(deviation)
        divergence = -0.5 * torch.sum(1 + log_variance - centre**2 - log_variance.exp())  # expect: NAN201(warning)
        return code, divergence


class Encoder_cured(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = nn.Linear(width, 2 * width)

    def forward(self, batch):
        centre, log_variance = self.head(batch).chunk(2, dim=-1)
        log_variance = log_variance.clamp(-20, 10)
        deviation = torch.exp(0.5 * log_variance)
        code = centre + deviation * torch.randn_like(deviation)
        divergence = -0.5 * torch.sum(1 + log_variance - centre**2 - log_variance.exp())
        return code, divergence


class Actor:
    def __init__(self, centre_net, spread_net):
        self.centre_net = centre_net
        self.spread_net = spread_net

    def policy(self, state):
        return Normal(self.centre_net(state), self.spread_net(state).exp())  # expect: NAN201(warning)


class Actor_cured:
    def __init__(self, centre_net, spread_net):
        self.centre_net = centre_net
        self.spread_net = spread_net

    def policy(self, state):
        return Normal(self.centre_net(state), self.spread_net(state).clamp(-20, 2).exp())


class DensityHead(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, 2 * width)

    def forward(self, batch):
        centre, spread = torch.split(self.net(batch), batch.shape[1], dim=1)
        return Normal(centre, torch.exp(spread))  # expect: NAN201(warning)


def clipped_objective(log_probs, old_log_probs, advantages):
    ratio = torch.exp(log_probs - old_log_probs)  # expect: NAN201(info)
    return -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()


def clipped_objective_cured(log_probs, old_log_probs, advantages):
    ratio = torch.exp((log_probs - old_log_probs).clamp(-20, 20))
    return -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()


def edge_softmax(scores, index, count):
    raised = scores.exp()
    total = torch.zeros(count).index_add(0, index, raised)
    return raised / total[index]  # expect: NAN202(warning)


def start_points(values, eagerness):
    weights = torch.exp(eagerness * (values - values.mean()))  # expect: NAN201(warning)
    return torch.multinomial(weights, 1)
