import torch


def observe(code):
    """A batch in which no sample is trusted."""
    model = code.YieldModel(3)
    loss = model.training_step({"x": torch.randn(4, 3), "y": torch.randn(4), "trust": torch.zeros(4)}, 0)
    return [] if loss is None else [loss]
