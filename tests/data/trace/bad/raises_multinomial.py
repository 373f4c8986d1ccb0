"""multinomial refuses probabilities that no variable holds."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for number in range(4):
    scores = model(torch.randn(2, 4)) * (1e38 if number == 2 else 1)
    loss = scores.mean().tanh()
    choice = torch.multinomial((scores * 100).softmax(-1), 1)  # origin: mul
    (loss * choice.float().mean()).backward()
    optimizer.step()
    optimizer.zero_grad()
