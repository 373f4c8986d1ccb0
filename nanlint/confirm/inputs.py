"""Which arguments a function is given: from what the user says, defaults, annotations, names and use, in this order.

A *spec* is a small JSON value that says how to make one argument; `worker.values` makes it. Kinds decide truth: a count
is an integer and never a tensor of zeros, a probability lies in [0, 1], a scale is above 0. Knows no torch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nanlint.confirm.composites import by_parts, stand_in
from nanlint.confirm.names import (
    CLASSES,
    SWITCHES,
    TEXTS,
    WITHOUT_GRADIENT,
    count,
    domain_of,
    fraction,
    is_count,
    is_fraction,
    words,
)
from nanlint.confirm.tensor_words import LOOKUPS

if TYPE_CHECKING:
    from nanlint.confirm.worker.evidence import Uses

Spec = dict[str, Any]

COMMON_SHAPES: dict[int, list[int]] = {0: [], 1: [4], 2: [2, 3], 3: [2, 4, 3], 4: [2, 3, 8, 8], 5: [2, 3, 4, 8, 8]}


@dataclass(frozen=True)
class Parameter:
    """One parameter as `inspect` knows it; `default` is meaningful only if there is one."""

    name: str
    annotation: str = ""
    has_default: bool = False
    default: object = None


def tensor(name: str, rank: int, *, domain: str = "") -> Spec:
    """A tensor of the common shape of its rank, with the domain that its name promises."""
    domain = domain or domain_of(name)
    shape = list(COMMON_SHAPES.get(rank, [2] * rank))
    grad = not (words(name) & WITHOUT_GRADIENT)
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
        return list(_by_name(parameter, uses, rank, building=building))
    if found[0]["kind"] == "class":
        # The class may be missing, or may not let itself be made.
        found += [spec for spec in _by_name(parameter, uses, rank, building=building) if spec not in found]
    return found


def attribute(name: str, uses: Uses, rank: int = 2) -> list[Spec]:
    """Ways to fill an attribute, or what a dictionary holds: settings are numbers and switches, the rest is by use."""
    short = name.rpartition(".")[2]
    wanted = rank_of(uses)
    shaped = tensor(short, wanted if wanted is not None else rank, domain=_domain_by_use(short, uses))
    found = _by_parts(short, uses, rank, shaped) or _setting(short, uses)
    if found:
        return found
    if uses.called and short in LOOKUPS:
        return [{"kind": "object", "items": {}, "keys": {}, "result": tensor("value", rank)}, _ANY]
    if uses.called:
        return [_ANY, _IDENTITY, _LINEAR]
    return [shaped, value(2), value(0.5), value(None)]


def _by_parts(name: str, uses: Uses, rank: int, shaped: Spec) -> list[Spec]:
    return by_parts(uses, shaped["shape"], lambda part, inner: attribute(part, inner, rank)[0], name)


def _setting(name: str, uses: Uses) -> list[Spec]:
    """What the name of a setting decides, if the use does not speak against it."""
    if uses.words:
        return [value(word) for word in dict.fromkeys(uses.words)]
    if uses.is_tensor or uses.called:
        return []
    return _by_setting_name(name, uses) or _by_comparison(name, uses)


_COMPUTED = re.compile(r"(states?|embeds?|embeddings?|hidden|outputs?|logits|loss|features)$")
"""Names of what a network computes, and nobody sets."""


def _by_setting_name(name: str, uses: Uses) -> list[Spec]:
    is_counted = is_count(name) and bool(words(name) & {"num", "n", "size", "dim", "count"})
    if SWITCHES.search(name.lower()):
        return list(_BOTH)
    if name.lower().lstrip("_") in _PLAIN:
        return [_PLAIN[name.lower().lstrip("_")]]
    if (domain_of(name) in {"mask", "index", "length"} or _COMPUTED.search(name.lower())) and not is_counted:
        return []
    if is_fraction(name) and not uses.counted and not is_counted:
        return [value(fraction(name)), value(0), value(1.0)]
    return [value(count(name)), *map(value, uses.numbers)] if is_count(name) or uses.counted else []


def _by_comparison(name: str, uses: Uses) -> list[Spec]:
    if domain_of(name) in {"mask", "index", "length"}:
        return []
    if uses.ordered or uses.numbers:
        return [*map(value, uses.numbers), value(fraction(name)), value(2)]
    if uses.is_switch and not uses.attributes:
        return list(_BOTH)
    return [value(None), value(True)] if uses.tested else []  # noqa: FBT003 - one of the two values there are


_IDENTITY: Spec = {"kind": "module", "name": "identity"}
_LINEAR: Spec = {"kind": "module", "name": "linear"}
_ANY: Spec = {"kind": "module", "name": "any"}
_PLAIN: dict[str, Spec] = {kind: {"kind": kind} for kind in ("device", "device_type")}
_PLAIN |= {"dtype": {"kind": "dtype", "value": "float32"}, **{word: value(text) for word, text in TEXTS.items()}}
_BOTH = [value(False), value(True)]  # noqa: FBT003 - the two values there are


def _by_annotation(parameter: Parameter, uses: Uses, rank: int) -> list[Spec]:
    """What the first pattern that the annotation meets stands for; nothing if it meets none."""
    text, name = parameter.annotation.replace("typing.", "").replace("torch.", ""), parameter.name
    if uses.ctc is not None:
        return [ctc_argument(name, uses.ctc)]
    wanted = rank_of(uses, text)
    shaped = tensor(name, wanted if wanted is not None else rank, domain=_domain_by_use(name, uses))
    for pattern, answer in _ANNOTATIONS:
        if re.search(pattern, text):
            found: list[Spec] = answer(text, name, uses, shaped)
            return found
    return []


def _tensor_as_annotated(text: str, name: str, _: Uses, shaped: Spec) -> list[Spec]:
    domain = {"Int": "index", "Boo": "mask", "Lon": "index"}.get(text[:3], "")
    return [
        {**shaped, **tensor(name, len(shaped["shape"]), domain=domain), "shape": shaped["shape"]} if domain else shaped
    ]


def _dict_of_tensors(_: str, __: str, uses: Uses, shaped: Spec) -> list[Spec]:
    keys = [key for key in uses.keys if isinstance(key, str)] or ["x"]
    return [{"kind": "dict", "items": {key: tensor(key, len(shaped["shape"])) for key in sorted(keys)}}]


def _literals(text: str, *_: object) -> list[Spec]:
    return [value(word.strip().strip("'\"")) for word in text.partition("Literal[")[2].partition("]")[0].split(",")]


def _whole_number(_: str, name: str, *__: object) -> list[Spec]:
    return [value(-1), value(1)] if _is_axis(name, building=False) else [value(count(name))]


def _words_for(_: str, name: str, uses: Uses, __: Spec) -> list[Spec]:
    return [value(word) for word in dict.fromkeys([*uses.words, TEXTS.get(name, "mean")])]


def _module(text: str, name: str, *_: object) -> list[Spec]:
    is_model = re.search(r"^(model|net|network|policy|backbone)$", name) and "Module" in text
    return [{"kind": "module", "name": "model"}, _ANY] if is_model else [_IDENTITY, _ANY, _LINEAR]


_ANNOTATIONS: tuple[tuple[str, Any], ...] = (
    (r"Literal\[", _literals),
    (r"Callable|\bModule\b", _module),
    (
        r"^(Optional\[)?(List|list|Sequence|Iterable|Tuple|tuple)\[.*Tensor\b",
        lambda _, __, ___, shaped: [{"kind": "list", "items": [shaped, shaped]}, shaped],
    ),
    (r"(Dict|dict|Mapping)\[str,.*Tensor\b", _dict_of_tensors),
    (r"Tensor\b|^(Float|Int|Bool)\[", _tensor_as_annotated),
    (r"^(Optional\[)?bool\b", lambda *_: list(_BOTH)),
    (r"^(Optional\[)?int\b", _whole_number),
    (r"^(Optional\[)?float\b", lambda _, name, *__: [value(fraction(name))]),
    (r"^(Optional\[)?str\b", _words_for),
    (r"(Tuple|tuple|List|list|Sequence)\[(int|float)", lambda text, name, *_: [_numbers(text, name)]),
    (r"\bdtype\b", lambda *_: [{"kind": "dtype", "value": "float32"}]),
    (r"\bdevice\b", lambda *_: [{"kind": "device"}]),
    (r"^(Optional\[)?[\"']?[A-Z]\w+", lambda text, *_: [{"kind": "class", "name": text}]),
)
"""Patterns of annotations, the special ones first, and the specs that suit them."""


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
    is_open = named == "real" or (named == "unit" and bool(words(name) & {"target", "targets", "t"}))
    if uses.indexes and is_open:
        return "index"
    if named != "real":
        return "real" if uses.projected and named == "unit" else ""
    return "mask" if uses.masks else "nonneg" if uses.lifted else ""


def _by_name(parameter: Parameter, uses: Uses, rank: int, *, building: bool) -> list[Spec]:
    name = parameter.name
    wanted = rank_of(uses)
    shaped = tensor(name, wanted if wanted is not None else rank, domain=_domain_by_use(name, uses))
    found = _unmistakable(name, uses, shaped, rank) or _no_tensor(name, uses, building=building)
    if found:
        return found
    if building:
        return _for_constructor(name, uses, shaped)
    if uses.is_tensor or not (is_count(name) or uses.counted):
        return [shaped, *([{"kind": "list", "items": [shaped, shaped]}] if uses.iterated else [])]
    return [value(count(name)), shaped]


def _unmistakable(name: str, uses: Uses, shaped: Spec, rank: int) -> list[Spec]:
    """What the use alone decides."""
    if uses.words:
        return [value(word) for word in dict.fromkeys(uses.words)]
    if uses.ctc is not None:
        return [ctc_argument(name, uses.ctc)]
    parts = _by_parts(name, uses, rank, shaped)
    if re.search(r"^(config|cfg|conf|args|opt|options|hparams|hps|params|opts)$", name.lower()):
        return [{"kind": "config"}, *parts]
    if uses.called:
        return [*parts, _IDENTITY, _ANY, _LINEAR]
    if uses.attributes and not uses.is_tensor and not is_count(name) and not parts:
        return [{"kind": "config"}, stand_in(uses, lambda part, inner: attribute(part, inner, rank)[0]), _ANY, shaped]
    return [*parts, {"kind": "config"}, _ANY, shaped] if parts else []


def _no_tensor(name: str, uses: Uses, *, building: bool) -> list[Spec]:
    """Switches, texts, devices, axes: what the name decides if the use does not speak against it."""
    if uses.is_tensor:
        return []
    if SWITCHES.search(name.lower()) or (uses.is_switch and not uses.attributes and not uses.counted and not building):
        return list(_BOTH)
    if _is_axis(name, building=building):
        return [value(-1), value(1)]
    if uses.tested and uses.numbers and not uses.attributes:
        return [value(number) for number in dict.fromkeys(uses.numbers)]
    return [_PLAIN[name.lower()]] if name.lower() in _PLAIN else []


def _for_constructor(name: str, uses: Uses, shaped: Spec) -> list[Spec]:
    lowered = name.lower()
    if uses.is_tensor and not is_count(name):
        return [shaped, value(count(name))]
    if re.search(r"layer|act$|norm|model|net|module|encoder|decoder|backbone|fn$|function", lowered) and not is_count(
        name
    ):
        made = [_LINEAR, {"kind": "module", "name": "class"}, value(16)]
        return [_ANY, *made] if re.search(r"model|net$|^net|encoder|decoder|backbone", lowered) else [*made, _ANY]
    if is_count(name):
        return [value(count(name))]
    if is_fraction(name):
        return [value(fraction(name)), value(2)]
    return [value(2), value(0.5), shaped]
