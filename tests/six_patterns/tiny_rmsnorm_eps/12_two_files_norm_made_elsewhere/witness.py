import torch


def observe(code):
    """The hidden state before the first step."""
    x = torch.zeros(2, 8, requires_grad=True)
    code.Sequence(8).after(x).sum().backward()
    return [x.grad]
