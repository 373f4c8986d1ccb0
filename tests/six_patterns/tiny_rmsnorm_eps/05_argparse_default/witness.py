import torch


def observe(code):
    """A row of padding."""
    x = torch.zeros(2, 8, requires_grad=True)
    code.Net(code.parse([])).norm(x).sum().backward()
    return [x.grad]
