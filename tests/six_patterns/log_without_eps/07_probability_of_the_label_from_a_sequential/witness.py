import torch


def observe(code):
    """A digit that the net rules out."""
    trainer = code.DigitTrainer(4)
    trainer.net[2].bias.data[:2] = torch.tensor([300.0, -300.0])
    cost = trainer.step(torch.randn(2, 4), torch.tensor([1, 1]))
    return [torch.tensor(cost), *trainer.net.parameters()]
