import torch


def observe(code):
    """Every unit of the query tower is off: its ReLU gives a row of zeros."""
    model = code.TwoTowers(4, 4, 8)
    torch.nn.init.constant_(model.query[0].bias, -100.0)
    scores = model(torch.randn(2, 4), torch.randn(3, 4))
    scores.sum().backward()
    return [scores, *(p.grad for p in model.parameters())]
