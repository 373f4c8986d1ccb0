"""torch.func: the loss is a function of the weights."""
import torch
from torch.func import functional_call, grad
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)


def loss_of(weights, inputs):
    outputs = functional_call(model, weights, (inputs,))
    return outputs.pow(2).sum(-1).sqrt().mean()  # origin: sqrt backward


def train_step(weights, inputs):
    gradients = grad(loss_of)(weights, inputs)
    return {name: weights[name] - 0.1 * gradients[name] for name in weights}


weights = {name: torch.zeros_like(value) if name == "bias" else value.detach() for name, value in model.named_parameters()}
for number in range(5):
    weights = train_step(weights, torch.randn(8, 4) if number != 2 else torch.zeros(8, 4) * (weights["bias"] - weights["bias"])[:1])
    weights["bias"] = torch.zeros(3)
