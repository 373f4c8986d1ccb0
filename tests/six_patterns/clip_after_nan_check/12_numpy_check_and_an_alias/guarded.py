"""Actor-critic update; numpy looks at the objective."""

import numpy as np
import torch
from torch.nn.utils import clip_grad_norm_ as shorten


class Learner:
    def __init__(self, actor: torch.nn.Module, critic: torch.nn.Module, rate: float = 1e-3) -> None:
        self.actor, self.critic = actor, critic
        self.weights = [*actor.parameters(), *critic.parameters()]
        self.adam = torch.optim.Adam(self.weights, rate)

    def improve(self, seen: torch.Tensor, earned: torch.Tensor) -> dict[str, float]:
        worth = self.critic(seen).squeeze(-1)
        surprise = earned - worth
        objective = surprise.square().mean() - (self.actor(seen).squeeze(-1) * surprise.detach()).mean()
        if not np.isfinite(objective.item()):
            return {"skipped": 1.0}
        self.adam.zero_grad()
        objective.backward()
        length = shorten(self.weights, 0.5)
        if not np.isfinite(float(length)):
            self.adam.zero_grad()
            return {"skipped": 1.0}
        self.adam.step()
        return {"objective": objective.item()}
