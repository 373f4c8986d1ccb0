"""Normalised residual stream, functional style: parameters live in a dict."""

import torch

Params = dict[str, torch.Tensor]


def rescale(h: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    return g * h / torch.sqrt((h * h).mean(dim=-1, keepdim=True) + 1e-22)  # expect: NAN204


def feed_forward(params: Params, h: torch.Tensor) -> torch.Tensor:
    inner = torch.relu(rescale(h, params["g"]) @ params["w_in"])
    return h + inner @ params["w_out"]


def objective(params: Params, h: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return (feed_forward(params, h) - wanted).square().mean()
