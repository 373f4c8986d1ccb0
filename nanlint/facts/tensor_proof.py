"""Whether a fix may write a method of tensors on a value: numpy arrays and Python numbers have no `clamp_min`.

A value is followed to what it was made from. A file that does not speak of numpy has tensors wherever operations of
tensors are found; in one that does, something must show that the value is one.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.arrays import is_of_tensors
from nanlint.facts.values import UNKNOWN, Form, Kind
from nanlint.ops.names import SHARED_METHODS

if TYPE_CHECKING:
    from nanlint.facts.evaluate import Evaluator
    from nanlint.facts.values import Call
    from nanlint.source.outline import Outline

_OTHER_LIBRARIES = frozenset({"numpy", "pandas", "cupy", "jax", "scipy", "tensorflow", "polars"})
_ARRAYS = ("ndarray", "NDArray", "ArrayLike", "Series", "DataFrame", "np.", "jnp.", "List", "list", "float", "int")
# What only torch's operations are told: numpy says axis and keepdims.
_TORCH_WORDS = frozenset({"dim", "keepdim", "unbiased"})
_DEEPEST = 12


def are_surely_tensors(nodes: list[cst.BaseExpression], evaluator: Evaluator | None, outline: Outline) -> bool:
    """Whether all of `nodes` have a tensor's methods for all that their function and the imports of its file say."""
    if not nodes or evaluator is None:
        return True
    proof = _Proof(evaluator, outline)
    return all(map(proof.holds, nodes))


class _Proof:
    def __init__(self, evaluator: Evaluator, outline: Outline) -> None:
        self._evaluator = evaluator
        self._arrays = _annotated_arrays(evaluator)
        self._is_mixed = _speaks_of_other_arrays(outline)

    def holds(self, node: cst.BaseExpression, depth: int = 0) -> bool:
        value = self._evaluator.values.get(node, UNKNOWN)
        made_by = value.made_by
        if isinstance(node, cst.Name) and node.value in self._arrays and made_by is None:
            return False
        if made_by is None or depth == _DEEPEST:
            return value.kind is Kind.TENSOR or not self._is_mixed or self._is_used_as_tensor(node)
        if made_by.function.startswith("numpy."):
            return False
        if made_by.form in {Form.FUNCTION, Form.MODULE}:
            return value.kind is Kind.TENSOR
        operands = [made_by.subject or made_by.receiver] if made_by.form is Form.METHOD else made_by.arguments.values()
        if made_by.form is Form.METHOD and _is_of_torch_alone(made_by):
            return True
        known = [self.holds(each, depth + 1) for each in operands if each is not None and not self._is_number(each)]
        return bool(known) and all(known)

    def _is_number(self, node: cst.BaseExpression) -> bool:
        return self._evaluator.values.get(node, UNKNOWN).kind is Kind.NUMBER

    def _is_used_as_tensor(self, node: cst.BaseExpression) -> bool:
        """Whether an operation that only torch has is done with the same name somewhere in the function."""
        if not isinstance(node, cst.Name):
            return False
        own = [
            call
            for call in self._evaluator.calls.values()
            if isinstance(call.subject, cst.Name) and call.subject.value == node.value
        ]
        return any(is_of_tensors(call) or (call.form is Form.METHOD and _is_of_torch_alone(call)) for call in own)


def _is_of_torch_alone(call: Call) -> bool:
    node = call.node
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    keywords = {argument.keyword.value for argument in node.args if argument.keyword is not None}
    return node.func.attr.value not in SHARED_METHODS or not _TORCH_WORDS.isdisjoint(keywords)


def _annotated_arrays(evaluator: Evaluator) -> frozenset[str]:
    """The parameters that are annotated as something else than a tensor."""
    function = evaluator.parsed.chunk.node
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return frozenset()
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return frozenset(
        each.arg
        for each in given
        if each.annotation is not None
        and "Tensor" not in (text := ast.unparse(each.annotation))
        and any(word in text for word in _ARRAYS)
    )


def _speaks_of_other_arrays(outline: Outline) -> bool:
    """Whether the file imports another library of arrays."""
    for node in ast.walk(outline.tree):
        names = (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        if any(name.partition(".")[0] in _OTHER_LIBRARIES for name in names):
            return True
    return False
