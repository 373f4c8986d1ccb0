import torch


def observe(code):
    """A row of padding."""
    x = torch.zeros(2, 8, requires_grad=True)
    code.rescale(x, torch.ones(8)).sum().backward()
    return [x.grad]
