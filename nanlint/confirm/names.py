"""What the name of a parameter promises: its domain, a number that suits it, whether it is a count or a switch.

Kinds decide truth: `n_*`, `num_*` and `*_size` are integers, `p` and `q` lie in [0, 1], `sigma` and `temperature` are
above 0. Tables and lookups alone.
"""

from __future__ import annotations

import re

CLASSES = 3
"""The last dimension of a tensor of rank 2 or 3, and so the number of classes that labels may name."""


def words(name: str) -> set[str]:
    """The words of a name, without numbers behind them."""
    parts = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().split("_")
    return {part.rstrip("0123456789") or part for part in parts if part}


_DOMAINS: tuple[tuple[str, frozenset[str]], ...] = (
    ("signed", frozenset({"r", "rho", "sign", "signs", "corr", "correlation", "correlations", "cosine", "cosines"})),
    ("mask", frozenset({"mask", "masks", "keep", "valid"})),
    (
        "index",
        frozenset(
            {
                "index",
                "idx",
                "indices",
                "labels",
                "label",
                "ids",
                "tokens",
                "classes",
                "cls",
                "timestep",
                "timesteps",
            }
        ),
    ),
    ("length", frozenset({"lengths", "lens", "ilens", "hlens", "olens", "xlens", "ylens"})),
    ("simplex", frozenset({"probs", "probabilities", "probability", "prob"})),
    (
        "unit",
        frozenset({"p", "q", "t", "alpha", "alphas", "conf", "confidence", "target", "targets", "weights", "weight"}),
    ),
    (
        "positive",
        frozenset(
            {
                "sigma",
                "sigmas",
                "var",
                "variance",
                "std",
                "stddev",
                "scale",
                "scales",
                "temperature",
                "tau",
                "temp",
                "eps",
            }
        ),
    ),
)
WITHOUT_GRADIENT = frozenset(
    {
        "target",
        "targets",
        "weights",
        "labels",
        "label",
        "gt",
        "mask",
        "noise",
        "reward",
        "rewards",
        "timestep",
        "timesteps",
    }
)

_COUNTS: tuple[tuple[str, int], ...] = (
    (r"(dim_head|head_dim|d_head|head_width)|^d_?[kvq]$", 8),
    (r"(num_|n_)?(attention_)?(kv_)?heads?$|nhead", 2),
    (r"vocab|num_tokens|num_embeddings|codebook_size|n_embed$|num_codes", 11),
    (r"class|categor|num_labels|nc$|num_outputs", CLASSES),
    (r"kernel|window", 3),
    (r"stride|dilation", 1),
    (r"pad", 1),
    (r"patch", 4),
    (r"(img|image|input|resolution).*(size|res|resolution)|resolution|img_sz", 16),
    (r"seq|max_len|length|num_patches|context|n_ctx|max_pos|positions", 16),
    (r"depth|layers?$|blocks?$|stages?$", 1),
    (r"batch|^bs$", 2),
    (r"groups?$", 1),
    (r"quantizers?|codebooks?", 2),
    (r"timesteps|steps|iters|iterations|epochs", 4),
    (
        r"dims?$|dim_|d_model|channels?$|features?$|hidden|embed|width|planes|units|filters|in_ch|out_ch|chans|size|latent|inner|state",
        16,
    ),
    (r"expert", 2),
    (r"height|^h$|^w$", 8),
    (r"factor|ratio|mult|expan", 2),
    (r"^(k|top_?k)$", 2),
    (r"^(num|n)_|_num$|count|number|levels?$|order|^n$|^k$|^d$|^c$", 2),
)
_FLOATS: tuple[tuple[str, float], ...] = (
    (r"(^|_)eps|epsilon|tol", 1e-6),
    (r"drop|prob$|rate$|momentum|decay|smoothing|^p$", 0.1),
    (r"min$|low", 0.0),
    (r"max$|high", 1.0),
    (r"lr$", 0.01),
    (
        r"alpha|beta|gamma|lambda|weight|coef|margin|threshold|ratio|scale|sigma|std|temperature|tau|temp|factor|loc|bandwidth|delta|clip",
        0.5,
    ),
)
SWITCHES = re.compile(
    r"^(use|is|has|with|return|apply|enable|do|should|causal|training|train|bias|inplace|normalize|keepdim|shuffle|training|affine|learn)(_|$)|_only$|_bias$"
)
TEXTS = {
    "reduction": "mean",
    "activation": "relu",
    "act": "relu",
    "padding_mode": "zeros",
    "mode": "bilinear",
    "norm_type": "layer",
}


def domain_of(name: str) -> str:
    """real, or what the name promises about the values."""
    found = words(name)
    if found & {"log", "logp", "logprob", "logprobs", "logits", "nll"}:
        return "logprob" if found & {"prob", "probs", "p", "logp", "logprob", "logprobs"} else "real"
    for domain, known in _DOMAINS:
        if found & known:
            return domain
    return "real"


def count(name: str) -> int:
    """An integer that suits the name."""
    lowered = name.lower()
    return next((number for pattern, number in _COUNTS if re.search(pattern, lowered)), 2)


def fraction(name: str) -> float:
    """A float that suits the name."""
    lowered = name.lower()
    return next((number for pattern, number in _FLOATS if re.search(pattern, lowered)), 0.5)


def is_count(name: str) -> bool:
    """Whether the name promises an integer."""
    lowered = name.lower()
    return any(re.search(pattern, lowered) for pattern, _ in _COUNTS)


def is_fraction(name: str) -> bool:
    """Whether the name promises a float."""
    lowered = name.lower()
    return any(re.search(pattern, lowered) for pattern, _ in _FLOATS)
