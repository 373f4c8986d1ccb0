import torch


def observe(code):
    """A critic that is sure, and wrong."""
    critic = torch.nn.Linear(2, 1)
    critic.weight.data.fill_(1.0)
    loss = code.discriminator_loss(critic, torch.full((2, 2), -1e3), torch.full((2, 2), 1e3))
    loss.backward()
    return [loss, critic.weight.grad]
