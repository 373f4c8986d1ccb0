import torch


def observe(code):
    """The first step: the widths start at 0."""
    model = code.Regressor(3, 4)
    model(torch.randn(5, 3)).sum().backward()
    return [p.grad for p in model.parameters()]
