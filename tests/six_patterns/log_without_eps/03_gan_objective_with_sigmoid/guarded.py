"""The minimax objective of a GAN, as the paper writes it."""

import torch
from torch import nn


def discriminator_loss(critic: nn.Module, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
    on_real = nn.functional.logsigmoid(critic(real))
    on_fake = nn.functional.logsigmoid(-critic(fake.detach()))
    gain = on_real + on_fake
    return -gain.mean()


def train_critic(critic, generator, optimizer, real, noise_width: int = 16):
    noise = torch.randn(real.size(0), noise_width)
    optimizer.zero_grad()
    loss = discriminator_loss(critic, real, generator(noise))
    loss.backward()
    optimizer.step()
    return loss.item()
