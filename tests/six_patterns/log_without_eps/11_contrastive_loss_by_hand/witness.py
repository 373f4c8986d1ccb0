from types import SimpleNamespace

import torch


def observe(code):
    """Each anchor is far closer to the other's view."""
    contrast = code.ViewContrast(SimpleNamespace(tau=0.1, width=2))
    contrast.projector.weight.data = torch.eye(2)
    views = torch.tensor([[10.0, -10.0], [-10.0, 10.0]])
    loss = contrast.loss(views, views.flip(0))
    loss.backward()
    return [loss, contrast.projector.weight.grad]
