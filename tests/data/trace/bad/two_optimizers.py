"""A generator and a discriminator; the generator's loss breaks."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
generator, critic = nn.Linear(2, 4), nn.Linear(4, 1)
for_generator = torch.optim.Adam(generator.parameters(), lr=1e-3)
for_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
data = torch.randn(48, 4)
for number, (real,) in enumerate(DataLoader(TensorDataset(data), batch_size=8)):
    fake = generator(torch.randn(8, 2))
    loss = critic(fake.detach()).mean() - critic(real).mean()
    for_critic.zero_grad()
    loss.backward()
    for_critic.step()
    scores = critic(generator(torch.randn(8, 2)))
    if number == 3:
        scores = scores - 1e3
    loss = -torch.log(torch.sigmoid(scores)).mean()  # origin: log
    for_generator.zero_grad()
    loss.backward()
    for_generator.step()
