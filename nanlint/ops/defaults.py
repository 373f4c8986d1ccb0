"""What bites without being written at the call: default eps, least counts, matrices that break a decomposition."""

from __future__ import annotations

DEFAULT_EPS: dict[str, float | None] = {
    "torch.cosine_similarity": 1e-8,
    "torch.nn.functional.normalize": 1e-12,
    "torch.pairwise_distance": 1e-6,
    "torch.nn.functional.batch_norm": 1e-5,
    "torch.nn.functional.gaussian_nll_loss": 1e-6,
    "torch.nn.functional.group_norm": 1e-5,
    "torch.nn.functional.gumbel_softmax": 1e-10,
    "torch.nn.functional.instance_norm": 1e-5,
    "torch.nn.functional.layer_norm": 1e-5,
    "torch.nn.functional.poisson_nll_loss": 1e-8,
    "torch.nn.functional.rms_norm": None,  # finfo(dtype).eps
    "torch.nn.functional.triplet_margin_loss": 1e-6,
    "torch.optim.Adadelta": 1e-6,
    "torch.optim.Adagrad": 1e-10,
    "torch.optim.Adam": 1e-8,
    "torch.optim.AdamW": 1e-8,
    "torch.optim.Adamax": 1e-8,
    "torch.optim.NAdam": 1e-8,
    "torch.optim.RAdam": 1e-8,
    "torch.optim.RMSprop": 1e-8,
    "torch.optim.SparseAdam": 1e-8,
}
"""The eps that no one sees at the call: losses, norms and optimizers with an eps of their own."""

LEAST_COUNT: dict[str, int] = {
    "torch.mean": 1,
    "torch.median": 1,
    "torch.nanmean": 1,
    "torch.nanmedian": 1,
    "torch.std": 2,
    "torch.std_mean": 2,
    "torch.var": 2,
    "torch.var_mean": 2,
}
"""The number of values below which a reduction is NaN (std and var with their default correction)."""

DEGENERATE: dict[str, str] = {
    "torch.linalg.eig": "repeated eigenvalues",
    "torch.linalg.eigh": "repeated eigenvalues",
    "torch.linalg.svd": "repeated singular values",
    "torch.svd": "repeated singular values",
    "torch.logdet": "a negative determinant (forward) or a determinant of 0",
    "torch.slogdet": "a determinant of 0",
}
"""The matrices for which a decomposition breaks, in the backward unless it says otherwise."""
