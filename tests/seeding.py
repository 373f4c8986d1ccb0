"""The seed of torch's random numbers, set for the CPU alone.

`torch.manual_seed` also notes a traceback for every kind of device that is not there, to be seeded later: that takes
longer than what most tests run between two seeds.
"""

from __future__ import annotations

import torch


def seed_cpu(seed: int) -> None:
    """Let the CPU draw the same numbers from here on as with `torch.manual_seed(seed)`."""
    torch.default_generator.manual_seed(seed)
