"""Every spelling of every operation: torch.x, Tensor.x, x_, F.x, operators, nn.Module forms, and the one name they mean.

Read on every run, so this is strings and dicts: parameters and their defaults are in `nanlint.ops.signatures`, which
parses them when facts ask. The lines themselves are in `tables`.
"""

from __future__ import annotations

from functools import cache

from nanlint.ops.tables import arithmetic as table_arithmetic
from nanlint.ops.tables import layers as table_layers
from nanlint.ops.tables import structure as table_structure

FUNCTIONAL = "torch.nn.functional."

TABLES = (
    table_arithmetic.ELEMENTWISE,
    table_arithmetic.ACTIVATIONS,
    table_arithmetic.REDUCTIONS,
    table_structure.SELECTION,
    table_structure.TESTS,
    table_structure.SHAPES,
    table_structure.CREATION,
    table_layers.NORMALISATION,
    table_layers.LOSSES,
    table_layers.LINEAR_ALGEBRA,
    table_layers.POOLING,
)

# A binary operator binds its left side to the operation's first parameter and its right side to the second.
OPERATORS = {
    "+": "torch.add",
    "-": "torch.sub",
    "*": "torch.mul",
    "/": "torch.div",
    "//": "torch.floor_divide",
    "%": "torch.remainder",
    "**": "torch.pow",
    "@": "torch.matmul",
    "&": "torch.bitwise_and",
    "|": "torch.bitwise_or",
    "^": "torch.bitwise_xor",
    "<<": "torch.bitwise_left_shift",
    ">>": "torch.bitwise_right_shift",
    "==": "torch.eq",
    "!=": "torch.ne",
    "<": "torch.lt",
    "<=": "torch.le",
    ">": "torch.gt",
    ">=": "torch.ge",
}
UNARY_OPERATORS = {"-": "torch.neg", "+": "torch.positive", "~": "torch.bitwise_not"}
# Python's own functions, when the argument is a tensor.
BUILTINS = {"abs": "torch.abs", "pow": "torch.pow", "round": "torch.round"}
# Attributes of a tensor that are a view of its values.
ATTRIBUTES = {
    "H": "torch.adjoint",
    "T": "torch.t",
    "data": "torch.detach",
    "imag": "torch.imag",
    "mH": "torch.adjoint",
    "mT": "torch.adjoint",
    "real": "torch.real",
}

_CHOICES = ("Categorical", "OneHotCategorical", "OneHotCategoricalStraightThrough")
# The class of torch.distributions and its attribute -> what that makes of the last dimension of the logits it was given.
HELD_FOR_LOGITS = {
    **{(kind, "probs"): "torch.softmax" for kind in _CHOICES},
    **{(kind, "logits"): "torch.log_softmax" for kind in _CHOICES},
    ("Bernoulli", "probs"): "torch.sigmoid",
}

# Methods of tensors that other things in training code have too: numpy arrays, pandas and polars frames, scipy and
# sympy objects, Decimal, containers, strings, loggers, modules, distributions, optimizers, transforms, images.
_SHARED = """
abs absolute add adjoint all angle any arccos arcsin arctan arctanh argmax argmin argsort bernoulli bfloat16 bool byte
ceil char cholesky chunk clip clone conj contiguous copysign corrcoef cos cosh cov cpu cross cuda cummax cummin
cumprod cumsum deg2rad det detach diag diagonal diff dim dist div divide dot double dsplit eq equal erf exp exp2
expand expm1 fix flatten flip float floor gather ge greater greater_equal gt half hsplit hypot index_select
inner int inverse isclose isfinite isinf isnan item kron ldexp le lerp less less_equal log log10 log1p log2
logical_and logical_not logical_or logical_xor long lt matmul max maximum mean median min minimum mode mul multinomial
multiply nanmean narrow ne neg negative nonzero norm normal_ not_equal numel numpy outer permute pin_memory
positive pow prod qr quantile rad2deg ravel reciprocal remainder repeat requires_grad_ reshape roll rot90 round
scatter select short sign sin sinc sinh size sort split sqrt square squeeze std sub subtract sum svd swapaxes t
take tan tanh tile to to_dense tolist topk trace transpose trunc type unbind unfold unique unsqueeze var vdot
view vsplit where
"""
SHARED_METHODS = frozenset(_SHARED.split())


def full_name(name: str) -> str:
    """`torch.F.x` is how the tables write `torch.nn.functional.x`."""
    return FUNCTIONAL + name[8:] if name.startswith("torch.F.") else name


CANONICAL: dict[str, str] = {}
"""Any dotted function spelling, `torch.Tensor.x` included, to the canonical name."""

METHODS: dict[str, str] = {}
"""The name of a method of a tensor to the canonical name."""

SIGNATURES: dict[str, str] = {}
"""The canonical name to its parameters as text, in brackets; `nanlint.ops.signatures` parses it."""

MODULE_OPERATIONS: dict[str, str] = {}
"""The dotted name of an nn.Module class to the canonical name of what its call computes."""

_SPELLINGS: dict[str, str] = {}
_MODULE_NAMES: dict[str, str] = {}


def _read_operations() -> None:
    for table in TABLES:
        for line in table.strip().splitlines():
            # The middle and last columns hold no bar; a parameter's other name does.
            head, methods, functions = line.rsplit("|", 2)
            canonical, _, parameters = head.partition("(")
            SIGNATURES[canonical] = parameters
            CANONICAL[canonical] = canonical
            _SPELLINGS[canonical] = methods + functions
            for method in methods.split():
                METHODS[method] = canonical
                CANONICAL["torch.Tensor." + method] = canonical
            for function in functions.split():
                CANONICAL[full_name("torch." + function)] = canonical


def _read_modules() -> None:
    for line in table_layers.MODULES.strip().splitlines():
        head, _, operation = line.partition(" -> ")
        name = head.partition("(")[0]
        canonical = full_name(operation.partition("(")[0])
        MODULE_OPERATIONS[name] = canonical
        _MODULE_NAMES[canonical] = f"{_MODULE_NAMES.get(canonical, '')} {name}"


_read_operations()
_read_modules()

TENSOR_ONLY_METHODS = frozenset(METHODS).difference(SHARED_METHODS)
"""Methods that no value but a tensor has: a call of one is evidence that its receiver, if no module, is a tensor."""


_SIGNS_OF: dict[str, set[str]] = {}
# `x[mask] = value` is a statement that is an operation.
for _operator, _operation in (*OPERATORS.items(), *UNARY_OPERATORS.items(), ("[]=", "torch.masked_fill")):
    _SIGNS_OF.setdefault(_operation, set()).add(_operator)
# `0 < x` is `x > 0`.
for _operator, _mirrored in ((">", "<"), (">=", "<="), ("<", ">"), ("<=", ">=")):
    _SIGNS_OF[OPERATORS[_operator]].add(_mirrored)
for (_, _attribute), _operation in HELD_FOR_LOGITS.items():
    _SIGNS_OF.setdefault(_operation, set()).add(_attribute)


def tensor_methods(words: str) -> frozenset[str]:
    """The canonical names of the methods that a text names."""
    return frozenset(METHODS[word] for word in words.split())


@cache
def spellings(canonical: str) -> frozenset[str]:
    """Every bare word the operation is written with: `log`, `log_`, `LogSoftmax`, `/`."""
    names = [canonical, *_SPELLINGS[canonical].split(), *_MODULE_NAMES.get(canonical, "").split()]
    return frozenset({name.rpartition(".")[2] for name in names} | _SIGNS_OF.get(canonical, set()))
