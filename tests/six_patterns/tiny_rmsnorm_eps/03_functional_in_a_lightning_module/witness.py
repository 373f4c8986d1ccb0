import torch


def observe(code):
    """An empty cell."""
    counts = torch.zeros(1, 5, requires_grad=True)
    code.CountAutoencoder(5)(counts).sum().backward()
    return [counts.grad]
