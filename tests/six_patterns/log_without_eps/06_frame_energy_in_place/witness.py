import torch


def observe(code):
    """A pause of one frame."""
    track = code.EnergyTrack()
    out = track(torch.cat([torch.randn(1, 320), torch.zeros(1, 160)], dim=1))
    out.sum().backward()
    return [out, track.smooth.weight.grad]
