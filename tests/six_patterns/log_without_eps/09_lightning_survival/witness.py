import torch


def observe(code):
    """A patient who survives what the model calls certain death."""
    model = code.SurvivalModel(2, 3)
    model.risk.bias.data.fill_(40.0)
    loss = model.training_step((torch.zeros(2, 2), torch.tensor([1, 2]), torch.tensor([False, True])), 0)
    loss.backward()
    return [loss, model.risk.weight.grad]
