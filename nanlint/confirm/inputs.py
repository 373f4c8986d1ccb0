"""Which arguments a function is given: from what the user says, defaults, annotations, names and use, in this order.

A *spec* is a small JSON value that says how to make one argument; `worker.values` makes it. Kinds decide truth: a count
is an integer and never a tensor of zeros, a probability lies in [0, 1], a scale is above 0. Knows no torch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from nanlint.confirm.uses import Uses

Spec = dict[str, Any]

COMMON_SHAPES: dict[int, list[int]] = {0: [], 1: [4], 2: [2, 3], 3: [2, 4, 3], 4: [2, 3, 8, 8], 5: [2, 3, 4, 8, 8]}
CLASSES = 3
"""The last dimension of a tensor of rank 2 or 3, and so the number of classes that labels may name."""


@dataclass(frozen=True)
class Parameter:
    """One parameter as `inspect` knows it; `default` is meaningful only if there is one."""

    name: str
    annotation: str = ""
    has_default: bool = False
    default: object = None


def _words(name: str) -> set[str]:
    parts = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().split("_")
    return {part.rstrip("0123456789") or part for part in parts if part}


_DOMAINS: tuple[tuple[str, frozenset[str]], ...] = (
    ("mask", frozenset({"mask", "masks", "keep", "valid", "pad", "padding"})),
    ("index", frozenset({"index", "idx", "indices", "labels", "label", "ids", "tokens", "classes", "cls", "timestep", "timesteps", "t"})),
    ("length", frozenset({"lengths", "lens", "lengths"})),
    ("simplex", frozenset({"probs", "probabilities", "probability", "prob"})),
    ("unit", frozenset({"p", "q", "alpha", "alphas", "conf", "confidence", "target", "targets", "weights", "weight"})),
    ("positive", frozenset({"sigma", "sigmas", "var", "variance", "std", "stddev", "scale", "scales", "temperature", "tau", "temp", "eps"})),
)
_WITHOUT_GRADIENT = frozenset({"target", "targets", "weights", "labels", "label", "gt", "mask", "noise", "reward", "rewards", "t", "timestep", "timesteps"})
_LOSSLESS = frozenset({"positive", "negative"})

_COUNTS: tuple[tuple[str, int], ...] = (
    (r"(dim_head|head_dim|d_head|head_width)", 8),
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
    (r"batch|bs$", 2),
    (r"groups?$", 1),
    (r"quantizers?|codebooks?", 2),
    (r"timesteps|steps|iters|iterations|epochs", 4),
    (r"dims?$|dim_|d_model|channels?$|features?$|hidden|embed|width|planes|units|filters|in_ch|out_ch|chans|size|latent|inner|state", 16),
    (r"expert", 2),
    (r"height|^h$|^w$", 8),
    (r"factor|ratio|mult|expan", 2),
    (r"^(k|top_?k)$", 2),
    (r"^(num|n)_|_num$|count|number|levels?$|order|^n$|^k$|^d$|^c$", 2),
)
_FLOATS: tuple[tuple[str, float], ...] = (
    (r"eps|epsilon|tol", 1e-6),
    (r"drop|prob$|rate$|momentum|decay|smoothing|^p$", 0.1),
    (r"min$|low", 0.0),
    (r"max$|high", 1.0),
    (r"lr$", 0.01),
    (r"alpha|beta|gamma|lambda|weight|coef|margin|threshold|ratio|scale|sigma|std|temperature|tau|temp|factor|loc|bandwidth|delta|clip", 0.5),
)
_SWITCHES = re.compile(r"^(use|is|has|with|return|apply|enable|do|should|causal|training|train|bias|inplace|normalize|keepdim|shuffle|training|affine|learn)(_|$)|_only$|_bias$")
_TEXTS = {"reduction": "mean", "activation": "relu", "act": "relu", "padding_mode": "zeros", "mode": "bilinear", "norm_type": "layer"}


def domain_of(name: str) -> str:
    """real, or what the name promises about the values."""
    words = _words(name)
    if words & {"log", "logp", "logprob", "logprobs", "logits", "nll"}:
        return "logprob" if words & {"prob", "probs", "p", "logp", "logprob", "logprobs"} else "real"
    for domain, known in _DOMAINS:
        if words & known:
            return domain
    return "real"


def tensor(name: str, rank: int, *, domain: str = "") -> Spec:
    """A tensor of the common shape of its rank, with the domain that its name promises."""
    domain = domain or domain_of(name)
    shape = list(COMMON_SHAPES.get(rank, [2] * rank))
    grad = not (_words(name) & _WITHOUT_GRADIENT)
    if domain == "index":
        return {"kind": "tensor", "name": name, "shape": shape, "domain": "index", "high": CLASSES, "grad": False}
    if domain == "length":
        return {"kind": "tensor", "name": name, "shape": [2], "domain": "index", "low": 1, "high": 5, "grad": False}
    if domain == "mask":
        return {"kind": "tensor", "name": name, "shape": shape, "domain": "mask", "grad": False}
    return {"kind": "tensor", "name": name, "shape": shape, "domain": domain, "grad": grad}


def ctc_argument(name: str, place: int) -> Spec:
    """An argument of a CTC loss: scores of three steps for one sample, or a target of three symbols, or lengths of three."""
    if place == 0:
        return {"kind": "tensor", "name": name, "shape": [3, 1, 4], "domain": "logprob", "grad": True}
    shape = [1, 3] if place == 1 else [1]
    low, high = (1, 4) if place == 1 else (3, 4)
    return {"kind": "tensor", "name": name, "shape": shape, "domain": "index", "low": low, "high": high, "grad": False}


def value(thing: object) -> Spec:
    """A plain value: a number, a text, a switch, None."""
    return {"kind": "value", "value": thing}


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


def rank_of(uses: Uses, annotation: str = "") -> int | None:
    """The number of dimensions that the evidence asks for; None if there is no evidence."""
    pattern = re.search(r"""\[\s*(?:torch\.)?Tensor\s*,\s*["']([^"']*)["']\s*\]""", annotation)
    if pattern and "..." not in pattern[1]:
        return len(pattern[1].split())
    if uses.ranks:
        return max(set(uses.ranks), key=uses.ranks.count)
    return max(uses.least_rank, 1) if uses.least_rank > 2 else None


def proposals(parameter: Parameter, uses: Uses, *, rank: int, building: bool) -> list[Spec]:
    """Ways to fill one parameter, the likeliest first; `building` is for constructors, where counts and floats abound."""
    found = list(_by_annotation(parameter, uses, rank))
    if not found:
        found = list(_by_name(parameter, uses, rank, building=building))
    return found


def _by_annotation(parameter: Parameter, uses: Uses, rank: int) -> list[Spec]:
    text, name = parameter.annotation.replace("typing.", "").replace("torch.", ""), parameter.name
    wanted = rank_of(uses, text)
    shaped = tensor(name, wanted if wanted is not None else rank, domain=_domain_by_use(name, uses))
    if uses.ctc is not None:
        return [ctc_argument(name, uses.ctc)]
    literal = re.search(r"Literal\[([^\]]*)\]", text)
    if literal:
        return [value(word.strip().strip("'\"")) for word in literal[1].split(",")]
    if re.search(r"^(Optional\[)?(List|list|Sequence|Iterable|Tuple|tuple)\[.*Tensor", text):
        return [{"kind": "list", "items": [shaped, shaped]}, shaped]
    if re.search(r"(Dict|dict|Mapping)\[str,.*Tensor", text):
        keys = [key for key in uses.keys if isinstance(key, str)] or ["x"]
        return [{"kind": "dict", "items": {key: tensor(key, rank) for key in keys}}]
    if "Tensor" in text or re.search(r"^(Float|Int|Bool)\[", text):
        domain = {"Int": "index", "Boo": "mask", "Lon": "index"}.get(text[:3], "")
        return [{**shaped, **tensor(name, len(shaped["shape"]), domain=domain)} if domain else shaped]
    if re.search(r"^(Optional\[)?bool\b", text):
        return [value(False), value(True)]  # noqa: FBT003 - the two values there are
    if re.search(r"^(Optional\[)?int\b", text):
        return [value(count(name))] if not _is_axis(name, building=False) else [value(-1), value(1)]
    if re.search(r"^(Optional\[)?float\b", text):
        return [value(fraction(name))]
    if re.search(r"^(Optional\[)?str\b", text):
        return [value(word) for word in dict.fromkeys([*uses.words, _TEXTS.get(name, "mean")])]
    if re.search(r"(Tuple|tuple|List|list|Sequence)\[(int|float)", text):
        return [_numbers(text, name)]
    if re.search(r"^(model|net|network|policy|backbone)$", name) and "Module" in text:
        return [{"kind": "module", "name": "model"}]
    if "Callable" in text or re.search(r"\bModule\b", text):
        return [{"kind": "module", "name": "identity"}, {"kind": "module", "name": "linear"}]
    if re.search(r"\b(dtype)\b", text):
        return [{"kind": "dtype", "value": "float32"}]
    if re.search(r"\bdevice\b", text):
        return [{"kind": "device"}]
    return [{"kind": "class", "name": text}] if re.match(r"^(Optional\[)?[\"']?[A-Z]\w+", text) else []


def _numbers(text: str, name: str) -> Spec:
    inner = re.search(r"\[([^\[\]]*)\]", text)
    parts = [part.strip() for part in inner[1].split(",")] if inner else []
    length = len(parts) if parts and "..." not in parts and "uple" in text else 2
    number: float = count(name) if "int" in text else fraction(name)
    return value([number] * length) | {"tuple": "uple" in text}


def _is_axis(name: str, *, building: bool) -> bool:
    return not building and name in {"dim", "axis", "dims", "reduce_dim"}


def _domain_by_use(name: str, uses: Uses) -> str:
    named = domain_of(name)
    if named != "real":
        return ""
    if uses.indexes:
        return "index"
    return "mask" if uses.masks else ""


def _by_name(parameter: Parameter, uses: Uses, rank: int, *, building: bool) -> list[Spec]:
    name, lowered = parameter.name, parameter.name.lower()
    wanted = rank_of(uses)
    shaped = tensor(name, wanted if wanted is not None else rank, domain=_domain_by_use(name, uses))
    if uses.words:
        return [value(word) for word in dict.fromkeys(uses.words)]
    if uses.ctc is not None:
        return [ctc_argument(name, uses.ctc)]
    if re.search(r"^(config|cfg|conf|args|opt|options|hparams|hps|params|opts)$", lowered):
        return [{"kind": "config"}]
    if uses.attributes and not uses.is_tensor and not uses.called and not is_count(name):
        return [{"kind": "config"}, {"kind": "module", "name": "any"}, shaped]
    if uses.called:
        return [{"kind": "module", "name": "identity"}, {"kind": "module", "name": "any"}, {"kind": "module", "name": "linear"}]
    if _SWITCHES.search(lowered) and not uses.is_tensor:
        return [value(False), value(True)]  # noqa: FBT003 - the two values there are
    if name in _TEXTS and not uses.is_tensor:
        return [value(_TEXTS[name])]
    if lowered in {"device"}:
        return [{"kind": "device"}]
    if lowered in {"dtype"}:
        return [{"kind": "dtype", "value": "float32"}]
    if _is_axis(name, building=building):
        return [value(-1), value(1)]
    if building:
        return _for_constructor(name, uses, shaped)
    if uses.is_tensor or not (is_count(name) or uses.counted):
        return [shaped, *([{"kind": "list", "items": [shaped, shaped]}] if uses.iterated else [])]
    return [value(count(name)), shaped]


def _for_constructor(name: str, uses: Uses, shaped: Spec) -> list[Spec]:
    lowered = name.lower()
    if uses.is_tensor and not is_count(name):
        return [shaped, value(count(name))]
    if re.search(r"layer|act$|norm|model|net|module|encoder|decoder|backbone|fn$|function", lowered) and not is_count(name):
        stand_in = {"kind": "module", "name": "any"}
        made = [{"kind": "module", "name": "linear"}, {"kind": "module", "name": "class"}, value(16)]
        return [stand_in, *made] if re.search(r"model|net$|^net|encoder|decoder|backbone", lowered) else [*made, stand_in]
    if is_count(name):
        return [value(count(name))]
    if any(re.search(pattern, lowered) for pattern, _ in _FLOATS):
        return [value(fraction(name)), value(2)]
    return [value(2), value(0.5), shaped]
