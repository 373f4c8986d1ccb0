import numpy as np


def observe(code):
    """A second of silence."""
    with np.errstate(all="ignore"):
        return [code.Clips([np.zeros(16_000)])[0]]
