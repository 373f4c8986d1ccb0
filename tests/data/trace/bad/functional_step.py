"""No module, no optimizer: gradients are asked for and new weights made of them."""
import torch

torch.manual_seed(0)
weight = torch.randn(4, 3, requires_grad=True)
for number in range(5):
    inputs = torch.randn(8, 4) * (1e6 if number == 3 else 1)
    loss = -(inputs @ weight).sigmoid().log().mean()  # origin: log
    (gradient,) = torch.autograd.grad(loss, [weight])
    weight = (weight - 0.1 * gradient).detach().requires_grad_()
