import torch


def observe(code):
    """The padding token's embedding is a row of zeros."""
    model = code.HalfModel(5, 8)
    out = model(torch.tensor([[0, 1]]))
    out.float().sum().backward()
    return [out, model.embed.weight.grad]
