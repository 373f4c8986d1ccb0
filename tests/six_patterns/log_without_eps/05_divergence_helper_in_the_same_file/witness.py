import torch


def observe(code):
    """A teacher that is certain."""
    student = torch.zeros(2, 3, requires_grad=True)
    teacher = torch.tensor([[900.0, 0.0, 0.0], [0.0, 900.0, 0.0]])
    loss = code.distil_loss(code.DistilConfig(), student, teacher, student.sum() * 0)
    loss.backward()
    return [loss, student.grad]
