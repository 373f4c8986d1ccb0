import torch


def observe(code):
    """A black patch."""
    x = torch.zeros(2, 8, requires_grad=True)
    code.Backbone(8, 1).stages[0].norm(x).sum().backward()
    return [x.grad]
