import torch


def observe(code):
    """A batch of prompts alone: no token counts."""
    logits = torch.randn(2, 3, 5, requires_grad=True)
    loss = code.token_loss(logits, torch.full((2, 3), -100))
    loss.backward()
    return [loss, logits.grad]
