import torch


def observe(code):
    """A series whose future was never measured."""
    net = torch.nn.Linear(4, 3)
    seen = torch.tensor([[True, True, False], [False, False, False]])
    loss = code.objective(net, torch.randn(2, 4), torch.randn(2, 3), seen)
    loss.backward()
    return [loss, net.weight.grad]
