"""The attributes and methods that tell a tensor from everything else that code takes as an argument."""

from __future__ import annotations

TENSOR_ONLY = frozenset(
    """
T abs add all amax amin any argmax backward bmm chunk clamp clone contiguous cpu cumsum data detach device diag
dim div double dtype eq exp expand flatten flip float floor gather ge grad gt half index_select int isinf isnan
item le log log1p logsumexp long lt masked_fill masked_select matmul max mean min mul narrow ndim ne new_zeros
nonzero norm numel permute pow prod relu repeat requires_grad reshape roll round scatter select shape sigmoid
sign size softmax sort split sqrt square squeeze std stride sub sum tanh to topk transpose type type_as unbind
unsqueeze var view
""".split()  # noqa: SIM905 - same
)
"""What hardly anything but a tensor is asked for."""
MODULE_NAMES = frozenset(
    {
        "parameters",
        "named_parameters",
        "modules",
        "state_dict",
        "zero_grad",
        "train",
        "eval",
        "to",
        "half",
        "float",
        "cuda",
        "cpu",
        "device",
        "dtype",
        "training",
    }
)
"""What every model has, and so every stand-in."""


TENSOR_FIELDS = frozenset(
    {"T", "H", "mT", "mH", "data", "grad", "shape", "real", "imag", "names", "dtype", "device", "grad_fn", "layout"}
)
"""What a tensor has that is no method and has parts of its own."""
SAME_SHAPE = frozenset(
    {"clone", "contiguous", "cpu", "cuda", "detach", "double", "float", "half", "long", "to", "type_as", "bool"}
)
"""Methods whose result has the shape of the tensor, so that evidence on the one is evidence on the other."""
DISTRIBUTION = frozenset({"log_prob", "rsample", "entropy", "icdf", "cdf", "stddev", "variance"})
"""What a distribution is asked for and nothing else."""
OF_DISTRIBUTIONS = DISTRIBUTION | {
    "sample",
    "mean",
    "mode",
    "loc",
    "scale",
    "probs",
    "logits",
    "batch_shape",
    "event_shape",
    "expand",
    "covariance_matrix",
    "base_dist",
    "has_rsample",
}
"""What a distribution has at all."""
MAPPING = frozenset({"get", "keys", "items", "values", "pop", "update", "setdefault", "copy"})
"""What a dictionary is asked for."""
LOOKUPS = frozenset({"get", "pop", "sample", "rsample"})
"""Methods whose result has nothing to do with the shape of their arguments."""
