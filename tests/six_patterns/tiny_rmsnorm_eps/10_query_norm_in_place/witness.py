import torch


def observe(code):
    """A padded position without a bias."""
    x = torch.zeros(2, 8, requires_grad=True)
    code.NormedAttention(8, 2).unit(x).sum().backward()
    return [x.grad]
