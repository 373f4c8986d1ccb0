"""A policy collects its rewards on itself; an episode of one step has no standard deviation."""

import torch


class Policy(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(2, 1)
        self.rewards = []

    def forward(self, state):
        return self.head(state)


torch.manual_seed(0)
policy = Policy()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
for episode in range(6):
    for _ in range(1 if episode == 3 else 4):
        policy.rewards.append(policy(torch.randn(2)))
    returns = torch.cat(policy.rewards)
    loss = (returns / returns.std()).pow(2).sum()  # origin: std
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    policy.rewards.clear()
