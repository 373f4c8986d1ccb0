"""Whether a backward can pass: not under no_grad or inference_mode, not behind a detach, not through a number."""

import torch
import torch.nn.functional as F


def regions(x: torch.Tensor) -> None:
    reveal(x.exp())  # gradient: yes
    with torch.no_grad():
        reveal(x.exp())  # gradient: no
        with torch.enable_grad():
            reveal(x.exp())  # gradient: yes
        reveal(x.exp())  # gradient: no
    reveal(x.exp())  # gradient: yes
    with torch.inference_mode():
        reveal(x.exp())  # gradient: no
    with torch.set_grad_enabled(False):
        reveal(x.exp())  # gradient: no
    with torch.set_grad_enabled(True):
        reveal(x.exp())  # gradient: yes
    with torch.autograd.no_grad():
        reveal(x.exp())  # gradient: no


@torch.no_grad()
def decorated(x: torch.Tensor) -> None:
    reveal(x.exp())  # gradient: no


@torch.inference_mode()
def decorated_for_inference(x: torch.Tensor) -> None:
    reveal(x.exp())  # gradient: no


@torch.no_grad
def decorated_without_brackets(x: torch.Tensor) -> None:
    reveal(x.exp())  # gradient: no


def detached(x: torch.Tensor) -> None:
    d = x.detach()
    reveal(d)  # gradient: no
    reveal(d.exp())  # gradient: no
    reveal(d + 1)  # gradient: no
    reveal(d + x)  # gradient: yes
    reveal(x.data.sqrt())  # gradient: no
    reveal(d.view(-1)[0])  # gradient: no
    reveal(torch.where(d > 0, d, 1.0))  # gradient: no
    reveal(torch.where(d > 0, x, 1.0))  # gradient: yes
    reveal(x.sum().item())  # gradient: no
    reveal(F.mse_loss(d, d))  # gradient: no
    reveal(F.mse_loss(x, d))  # gradient: yes
    y = x.exp().detach()
    reveal(y.log())  # gradient: no
    z = d.requires_grad_(False)
    reveal(z.exp())  # gradient: no
    start = x.detach().requires_grad_()
    reveal(start.exp())  # gradient: yes
    again = x.detach()
    again.requires_grad_(True)
    reveal(again.exp())  # gradient: yes
    later = x.detach()
    later.requires_grad = True
    reveal(later.exp())  # gradient: yes


def without_one_from_the_start(x: torch.Tensor) -> None:
    reveal(torch.zeros_like(x))  # gradient: no
    reveal(torch.rand(3).log())  # gradient: no
    reveal(torch.randn_like(x) + 1)  # gradient: no
    reveal(torch.arange(3) / 2)  # gradient: no
    reveal(x.argmax(-1))  # gradient: no
    reveal(torch.tensor([1.0, 2.0]).sqrt())  # gradient: no
    reveal(x * torch.rand_like(x))  # gradient: yes
    reveal(x > 0)  # gradient: no
    reveal((x > 0).float())  # gradient: no
    reveal((x > 0).sum() + 1)  # gradient: no
    reveal(torch.zeros(3, requires_grad=True))  # gradient: yes
    reveal(x.isnan())  # gradient: no


def paths(x: torch.Tensor, flag: bool) -> None:
    y = x.detach() if flag else x
    reveal(y.exp())  # gradient: yes
    z = x.detach() if flag else x.detach() + 1
    reveal(z.exp())  # gradient: no


def several(x: torch.Tensor) -> None:
    flat = x.flatten()
    grid = torch.arange(flat.numel()) / 2
    reveal(torch.cat([grid, grid]))  # gradient: no
    reveal(torch.stack((grid, flat.detach()), dim=0))  # gradient: no
    reveal(torch.cat([grid + step for step in range(3)], dim=-1))  # gradient: no
    reveal(torch.cat([grid, flat]))  # gradient: yes
    reveal(torch.cat([grid, *[flat]]))  # gradient: yes
    reveal(torch.stack([row * 2 for row in (flat, grid)]))  # gradient: yes


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def made_without_one(x: torch.Tensor) -> None:
    buffer = torch.zeros_like(x)
    with torch.no_grad():
        y = x * 2
        z = doubled(x)
        buffer[...] = x
        for step in range(3):
            buffer[...] = x + step
        same = x
        again = (x * 2).requires_grad_()
    reveal(y.exp())  # gradient: no
    reveal(z.exp())  # gradient: no
    reveal(buffer.exp())  # gradient: no
    reveal(same.exp())  # gradient: yes
    reveal(again.exp())  # gradient: yes
    reveal(y * x)  # gradient: yes
    buffer[...] = y
    reveal(buffer.exp())  # gradient: no
    buffer[...] = x
    reveal(buffer.exp())  # gradient: yes


def changed_without_one(x: torch.Tensor, y: torch.Tensor) -> None:
    with torch.no_grad():
        x.clamp_(min=0)
        y -= 1
        y[...] = 1
    reveal(x.exp())  # gradient: yes
    reveal(y.exp())  # gradient: yes
