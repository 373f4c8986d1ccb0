"""A compiled model; the replay runs it as it is written."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return torch.log(self.linear(x).sigmoid())  # origin: log


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
compiled = torch.compile(net, backend="aot_eager")
for number in range(4):
    inputs = torch.randn(16, 4) * (1e5 if number == 2 else 1)
    loss = -compiled(inputs).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
