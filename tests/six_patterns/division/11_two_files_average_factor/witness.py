import torch


def observe(code):
    """No anchor of the batch was assigned."""
    head = code.BoxHead(3)
    loss = head.loss(torch.randn(5, 3), torch.randn(5, 4), torch.zeros(5))
    loss.backward()
    return [loss, head.regress.weight.grad]
