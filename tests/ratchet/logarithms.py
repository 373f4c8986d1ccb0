"""Logarithms of what reaches 0: saturated predictions, absent classes, silence, underflow."""

import torch
import torch.nn.functional as F
from torch import nn


def aggregated_loss(scores, counts, steps):
    share = scores.softmax(-1).sum(1) / steps
    return -torch.sum(torch.log(share) * counts / steps)  # expect: NAN102(warning)


def aggregated_loss_cured(scores, counts, steps):
    share = scores.softmax(-1).sum(1) / steps
    return -torch.sum(torch.log(share + 1e-6) * counts / steps)


class PriorJudge(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.last = nn.Linear(width, 1)

    def forward(self, code):
        return torch.sigmoid(self.last(code))


class PriorLoss(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.judge = PriorJudge(width)

    def forward(self, code):
        real = torch.log(self.judge(torch.rand_like(code))).mean()  # expect: NAN110(warning)
        fake = torch.log(1.0 - self.judge(code)).mean()  # expect: NAN110(error)
        return -(real + fake)


class PriorLoss_cured(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.last = nn.Linear(width, 1)

    def forward(self, code):
        real = F.logsigmoid(self.last(torch.rand_like(code))).mean()
        fake = F.logsigmoid(-self.last(code)).mean()
        return -(real + fake)


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def forward(self, chances, wanted):
        right = torch.where(wanted == 1, chances, 1 - chances)
        return (-((1 - right) ** self.gamma) * torch.log(right)).mean()  # expect: NAN102(warning)


class FocalLoss_cured(nn.Module):
    def forward(self, chances, wanted):
        right = torch.where(wanted == 1, chances, 1 - chances).clamp(1e-6, 1 - 1e-6)
        return (-((1 - right) ** 2) * torch.log(right)).mean()


def mixture_loss(mixture, parts, observed):
    each = parts.log_prob(observed.unsqueeze(1)).sum(2)
    return -torch.logsumexp(torch.log(mixture.probs) + each, dim=1)  # expect: NAN102(info)


def mixture_loss_cured(mixture, parts, observed):
    each = parts.log_prob(observed.unsqueeze(1)).sum(2)
    return -torch.logsumexp(mixture.logits + each, dim=1)


class SquashedPolicy(nn.Module):
    def __init__(self, reach):
        super().__init__()
        self.reach = reach

    def sample(self, normal):
        raw = normal.rsample()
        action = torch.tanh(raw) * self.reach
        return action, normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)  # expect: NAN102(warning)

    def _squash(self, raw):
        return torch.tanh(raw) * self.reach

    def sample_by_method(self, normal):
        raw = normal.rsample()
        action = self._squash(raw)
        return action, normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)  # expect: NAN102(warning)


def squashed_sample_cured(normal, reach):
    raw = normal.rsample()
    squashed = torch.tanh(raw)
    return squashed * reach, normal.log_prob(raw) - torch.log(1 - squashed.pow(2) + 1e-6)


def contrastive_loss(similarity, not_self, positive):
    logits = similarity - similarity.max(dim=1, keepdim=True)[0].detach()
    others = torch.exp(logits) * not_self
    log_chance = logits - torch.log(others.sum(1, keepdim=True))  # expect: NAN102(warning)
    return -(positive * log_chance).sum(1).mean()


def contrastive_loss_cured(similarity, is_self, positive):
    logits = similarity.masked_fill(is_self, -1e4)
    return -(positive * F.log_softmax(logits, dim=1)).sum(1).mean()


def chunk_energy(chunks):
    return chunks.abs().sum(-1).log()  # expect: NAN102(warning)


def chunk_energy_cured(chunks):
    return (chunks.abs().sum(-1) + 1e-6).log()


def given_scores(chances, wanted):
    return F.nll_loss(torch.log(chances), wanted)  # expect: NAN102(warning)


def given_scores_cured(logits, wanted):
    return F.nll_loss(F.log_softmax(logits, dim=-1), wanted)


def half_way_code(logits, one_hot, temperature):
    mixed = (one_hot + (logits / temperature.clamp(min=0.1)).softmax(dim=-1)) / 2
    return (mixed.log() - logits).detach() + logits  # expect: NAN102(info)


def log_product(left, right):
    left_shift = left.max(-1, keepdim=True)[0]
    right_shift = right.max(-2, keepdim=True)[0]
    both = torch.matmul((left - left_shift).exp(), (right - right_shift).exp()).log()  # expect: NAN102(warning)
    return both + left_shift + right_shift


def information(prior_variance, explained):
    left_over = prior_variance - explained
    return 0.5 * (left_over.log() - prior_variance.log())  # expect: NAN102(info)


def tail_log(points):
    return torch.log(1 + torch.erf(points))  # expect: NAN102(warning)


def tail_log_cured(points):
    return torch.log((1 + torch.erf(points)).clamp(min=1e-6))


def of_correlation(correlation):
    return torch.log(correlation.view(1, -1) + 1e-6)  # not yet: NAN102


def mixture_by_hand(distance, weights, scale):
    nearest = distance.min(-1, keepdim=True)[0]
    dense = weights * torch.exp(-distance + nearest) / scale.log().sum(-1).exp()
    return torch.log(dense.sum(-1))  # expect: NAN102(warning)


def mixture_by_hand_cured(distance, log_weights, log_scale):
    return torch.logsumexp(log_weights - distance - log_scale, dim=-1)
