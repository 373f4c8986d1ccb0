import torch

from tests.six_patterns.faults import break_gradient


def observe(code):
    """One gradient is Inf, none is NaN; the clip makes NaN of it."""
    model = break_gradient(torch.nn.Linear(3, 2), with_value=float("inf"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    code.step(model, optimizer, {"x": torch.randn(2, 3), "y": torch.tensor([0, 1])})
    return list(model.parameters())
