"""What is an array of numpy's, by where it comes from and what is done to it: it has none of a tensor's methods.

`x.std()` is written alike for both, so the analysis of ranges does not part them. A fix has to: `clamp_min` on an array raises.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.context import ancestors
from nanlint.facts.evaluate import parameters
from nanlint.facts.given import assigned
from nanlint.source.walk import walk

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator

_ARRAYS = frozenset({"ndarray", "NDArray", "ArrayLike"})
_TENSORS = frozenset({"Tensor"})
_ARRAY_METHODS = frozenset({"numpy", "astype", "tolist"})
_MADE_HERE = frozenset({"numpy.", "scipy.", "pandas."})
_DEEPEST = 12


def is_array_of_numpy(node: cst.BaseExpression | None, evaluator: Evaluator, depth: int = 0) -> bool:
    """Whether `node` is an array for all that its names, annotations and makers say; False if they say nothing."""
    if node is None or depth == _DEEPEST:
        return False
    if isinstance(node, cst.Name):
        source = assigned(node, evaluator)
        if source is not node:
            return is_array_of_numpy(source, evaluator, depth + 1)
        return _is_given_as_array(node, evaluator)
    if isinstance(node, cst.Call):
        return _is_made_as_array(node, evaluator, depth)
    found = {side: is_array_of_numpy(side, evaluator, depth + 1) for side in _operands(node)}
    return any(found.values()) and all(is_one or isinstance(side, cst.BaseNumber) for side, is_one in found.items())


def _operands(node: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
    """What an expression is made of, if it is an array where these are."""
    if isinstance(node, (cst.Subscript, cst.Attribute)):
        return (node.value,)
    if isinstance(node, cst.UnaryOperation):
        return (node.expression,)
    return (node.left, node.right) if isinstance(node, cst.BinaryOperation) else ()


def _is_made_as_array(node: cst.Call, evaluator: Evaluator, depth: int) -> bool:
    """`np.mean(x)`, `x.numpy()`, and a method of an array."""
    function = node.func
    if isinstance(function, cst.Attribute):
        if function.attr.value in _ARRAY_METHODS:
            return True
        root = function.value
        while isinstance(root, cst.Attribute):
            root = root.value
        if isinstance(root, cst.Name):
            module = evaluator.values.get(root)
            name = f"{module.name}." if module is not None and module.name else ""
            if name.startswith(tuple(_MADE_HERE)):
                return True
            if name.startswith("torch."):
                return False
        return is_array_of_numpy(function.value, evaluator, depth + 1)
    call = evaluator.calls.get(node)
    return call is not None and call.function.startswith(tuple(_MADE_HERE))


def _is_given_as_array(name: cst.Name, evaluator: Evaluator) -> bool:
    """By the annotation of the nearest function that declares it; without one, by what the function does with it."""
    for around in ancestors(name, evaluator.parsed.parents):
        if not isinstance(around, (cst.FunctionDef, cst.Lambda)):
            continue
        for parameter in parameters(around.params):
            if parameter.name.value == name.value:
                if parameter.annotation is not None:
                    words = _words_of(parameter.annotation)
                    return bool(words & _ARRAYS) and not words & _TENSORS
                return _is_handed_to_numpy(name.value, around)
    return False


def _words_of(annotation: cst.Annotation) -> set[str]:
    """The names in an annotation, also in one that is written as a text."""
    texts = [each.raw_value for each in walk(annotation) if isinstance(each, cst.SimpleString)]
    names = {each.value for each in walk(annotation) if isinstance(each, cst.Name)}
    return names.union(*(re.findall(r"\w+", text) for text in texts))


def _is_handed_to_numpy(name: str, function: cst.CSTNode) -> bool:
    """`np.abs(x)`, `x.astype(...)`, `x.mean(keepdims=True)`, `torch.from_numpy(x)`: a tensor would raise or is no such thing."""
    for node in walk(function):
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            continue
        on = node.func.value
        if isinstance(on, cst.Name) and on.value == name:
            words = {each.keyword.value for each in node.args if each.keyword is not None}
            if node.func.attr.value == "astype" or "keepdims" in words:
                return True
        is_numpys = isinstance(on, cst.Name) and on.value in {"np", "numpy"}
        is_handed = any(isinstance(each.value, cst.Name) and each.value.value == name for each in node.args)
        if is_handed and (is_numpys or node.func.attr.value == "from_numpy"):
            return True
    return False
