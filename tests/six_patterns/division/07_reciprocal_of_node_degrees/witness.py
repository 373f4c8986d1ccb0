import torch


def observe(code):
    """Node 2 has no neighbour."""
    layer = code.MeanConv(4)
    out = layer(torch.randn(3, 4), torch.tensor([[0, 1], [1, 0]]))
    out.sum().backward()
    return [out, *(p.grad for p in layer.parameters())]
