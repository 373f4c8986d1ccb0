import numpy as np
import torch


def observe(code):
    """Class 2 has no example in this fold."""
    with np.errstate(divide="ignore"):
        head = code.AdjustedHead(4, np.array([0, 0, 1]), 3)
    loss = head(torch.randn(2, 4), torch.tensor([0, 1]))
    loss.backward()
    return [loss, head.linear.weight.grad]
