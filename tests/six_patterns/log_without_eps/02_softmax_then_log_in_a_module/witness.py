import torch


def observe(code):
    """A very sure head."""
    model = code.SoftLabelClassifier(10, 4, 3)
    model.head.bias.data = torch.tensor([200.0, 0.0, -200.0])
    loss = model.training_loss(torch.tensor([[1, 2]]), torch.tensor([[0.5, 0.5, 0.0]]))
    loss.backward()
    return [loss, model.head.weight.grad]
