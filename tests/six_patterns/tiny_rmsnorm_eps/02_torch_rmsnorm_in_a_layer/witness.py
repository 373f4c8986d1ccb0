import torch


def observe(code):
    """An embedding of zeros."""
    layer = code.DecoderLayer(8, 2)
    x = torch.zeros(1, 3, 8, requires_grad=True)
    layer(x).sum().backward()
    return [x.grad]
