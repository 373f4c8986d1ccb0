import torch


def observe(code):
    """Every step earns nothing and nothing was expected."""
    buffer = code.RolloutBuffer()
    for _ in range(4):
        buffer.add(0.0, 0.0)
    buffer.finish()
    logp = torch.zeros(4, requires_grad=True)
    loss = buffer.policy_loss(logp, torch.zeros(4))
    loss.backward()
    return [loss, logp.grad]
