import torch


def observe(code):
    """The first step: the slots start at 0."""
    memory = code.Memory(3, 8)
    memory(torch.randn(2, 8)).sum().backward()
    return [memory.slots.grad]
