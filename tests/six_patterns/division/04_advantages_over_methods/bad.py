"""PPO: advantages are kept in the buffer by one method and normalised by another."""

import torch


class RolloutBuffer:
    def __init__(self, gamma: float = 0.99) -> None:
        self.gamma = gamma
        self.rewards: list[float] = []
        self.values: list[float] = []
        self.advantages = torch.zeros(0)

    def add(self, reward: float, value: float) -> None:
        self.rewards.append(reward)
        self.values.append(value)

    def finish(self) -> None:
        returns, running = [], 0.0
        for reward in reversed(self.rewards):
            running = reward + self.gamma * running
            returns.append(running)
        self.advantages = torch.tensor(returns[::-1]) - torch.tensor(self.values)

    def policy_loss(self, new_logp: torch.Tensor, old_logp: torch.Tensor, clip: float = 0.2) -> torch.Tensor:
        centred = self.advantages - self.advantages.mean()
        adv = torch.div(centred, self.advantages.std(unbiased=False))  # expect: NAN101
        ratio = (new_logp - old_logp).clamp(-10, 10).exp()
        return -torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
