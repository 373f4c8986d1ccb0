import torch


def observe(code):
    """A slice that the box does not reach."""
    logits = torch.randn(2, 1, 4, 4, requires_grad=True)
    loss = code.dice_loss(logits, torch.ones(2, 1, 4, 4), torch.zeros(2, 1, 4, 4))
    loss.backward()
    return [loss, logits.grad]
