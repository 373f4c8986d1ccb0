"""Actor with an entropy bonus: `act` stores what `update` needs."""

import torch
from torch import nn


class Actor:
    def __init__(self, observations: int, actions: int, bonus: float = 0.01) -> None:
        self.net = nn.Sequential(nn.Linear(observations, 32), nn.Tanh(), nn.Linear(32, actions))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=3e-4)
        self.bonus = bonus
        self.pi = None

    def act(self, observation: torch.Tensor) -> torch.Tensor:
        self.pi = torch.distributions.Categorical(logits=self.net(observation))
        return self.pi.sample().unsqueeze(-1)

    def update(self, chosen_logp: torch.Tensor, advantage: torch.Tensor) -> torch.Tensor:
        spread = self.pi.entropy()
        objective = -(chosen_logp * advantage).mean() - self.bonus * spread.mean()
        self.optimizer.zero_grad()
        objective.backward()
        self.optimizer.step()
        return objective.detach()
