import torch


def observe(code):
    """A policy that has settled on one action."""
    actor = code.Actor(3, 2)
    actor.net[2].bias.data = torch.tensor([200.0, -200.0])
    actor.act(torch.randn(4, 3))
    loss = actor.update(torch.zeros(4), torch.ones(4))
    return [loss, *actor.net.parameters()]
