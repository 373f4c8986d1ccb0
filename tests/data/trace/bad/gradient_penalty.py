"""A penalty on a gradient: the backward pass of a backward pass."""
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


def penalty(x, strength):
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(critic(x * strength).sum(), x, create_graph=True)
    return ((gradient.pow(2).sum(1).sqrt() - 1) ** 2).mean()  # origin: sqrt backward


for number in range(6):
    x = torch.randn(8, 4)
    loss = critic(x).mean() + 10 * penalty(x, 0.0 if number == 4 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
