import torch


def observe(code):
    """A logit of 40 is a chance of exactly 1."""
    net = torch.nn.Linear(1, 1, bias=False)
    net.weight.data.fill_(40.0)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    code.train_epoch(net, [(torch.ones(2, 1), torch.zeros(2))], optimizer, 2.0)
    return [net.weight]
