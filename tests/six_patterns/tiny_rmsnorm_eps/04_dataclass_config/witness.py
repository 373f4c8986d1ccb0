import torch


def observe(code):
    """A row of padding."""
    x = torch.zeros(2, 8, requires_grad=True)
    code.Scale(code.ModelConfig(dim=8))(x).sum().backward()
    return [x.grad]
