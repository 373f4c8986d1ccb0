"""Finds where a running training script makes its first NaN or Inf. Imports torch.

    import nanlint.trace as nt

    with nt.watch(model, optimizer, on_nonfinite="skip"):
        train(model, optimizer)

The command `nanlint trace` needs no change of the script and sees more: it can run the whole bad step again.
"""

from nanlint.trace.diagnosis import Diagnosis, NonFiniteError
from nanlint.trace.watch import Watch, watch

__all__ = ["Diagnosis", "NonFiniteError", "Watch", "watch"]
