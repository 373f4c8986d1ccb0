"""A policy whose logits are NaN: Categorical refuses them, two functions further down."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, state):
        state = (state - state.mean()) / state.std()  # origin: div
        return Categorical(logits=self.linear(state), validate_args=True)


def rollout(policy, states):
    losses = []
    for state in states:
        choice = policy(state)
        losses.append(-choice.log_prob(choice.sample()))
    return torch.stack(losses).mean()


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters())
for number in range(6):
    loss = rollout(policy, torch.randn(5, 4) if number != 4 else torch.ones(5, 4))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
