"""Which expressions of a function are tensors beyond doubt: what a rewriting may call a method of.

Only annotations and operations that always give a tensor count, so what is not known to be one is left as it is.
"""

from __future__ import annotations

import ast

# Operations that torch has as a function and as a method of the same name and arguments, and that give one tensor.
_BOTH = """
abs acos acosh add argmax asin atan atan2 atanh bmm ceil clamp clamp_max clamp_min cos cosh cumprod cumsum det
diagonal diff div divide erf erfinv exp exp2 expm1 flatten floor fmod gather hypot index_select isfinite isinf
isnan log log10 log1p log2 log_softmax logdet logical_and logical_not logical_or logit logsumexp masked_fill
matmul mean mm mul multiply nan_to_num neg norm outer pow prod reciprocal relu reshape round rsqrt sigmoid sign
sin sinh softmax sqrt square squeeze std sub sum tan tanh transpose tril triu unsqueeze var where xlogy
"""
_FACTORIES = """
arange cat empty eye full full_like ones ones_like rand randn stack tensor zeros zeros_like
"""
_FUNCTIONAL = """
cosine_similarity cross_entropy l1_loss log_softmax logsigmoid mse_loss nll_loss normalize one_hot relu sigmoid
softmax softplus tanh
"""
_VIEWS = """
bool clone cpu detach double expand float half int long repeat type_as view
"""
BOTH, FACTORIES, FUNCTIONAL, VIEWS = (frozenset(words.split()) for words in (_BOTH, _FACTORIES, _FUNCTIONAL, _VIEWS))
TENSOR = frozenset({"torch.Tensor", "Tensor"})
FUNCTIONS = {"torch": BOTH - {"where"} | FACTORIES, "F": FUNCTIONAL, "torch.nn.functional": FUNCTIONAL}
SAME_BOTH_WAYS = BOTH - {"where"}


def function_called(node: ast.expr) -> tuple[str, str]:
    """`("torch", "log")` of a call of `torch.log`, or two empty words."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        where = ast.unparse(node.func.value)
        if where in FUNCTIONS:
            return where, node.func.attr
    return "", ""


def tensor_names(function: ast.FunctionDef) -> frozenset[str]:
    """The names that are bound to tensors alone."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    known = {arg.arg for arg in given if arg.annotation is not None and ast.unparse(arg.annotation) in TENSOR}
    plain = [
        node for node in ast.walk(function) if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    bound = {id(node.targets[0]) for node in plain if len(node.targets) == 1}
    other = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in bound
    } - {
        node.target.id
        for node in ast.walk(function)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    names = known | {node.targets[0].id for node in plain if isinstance(node.targets[0], ast.Name)}
    names -= other | ({arg.arg for arg in given} - known)
    while True:
        wrong = {
            node.targets[0].id
            for node in plain
            if isinstance(node.targets[0], ast.Name) and not is_tensor(node.value, frozenset(names))
        }
        if not wrong & names:
            return frozenset(names)
        names -= wrong


def is_tensor(node: ast.expr, names: frozenset[str]) -> bool:  # noqa: PLR0911 - a line for each form
    """Whether an expression is one tensor, where these names are."""
    match node:
        case ast.Name():
            return node.id in names
        case ast.BinOp():
            return is_tensor(node.left, names) or is_tensor(node.right, names)
        case ast.UnaryOp(op=ast.USub() | ast.Invert()):
            return is_tensor(node.operand, names)
        case ast.Compare(ops=[ast.Gt() | ast.Lt() | ast.GtE() | ast.LtE() | ast.Eq() | ast.NotEq()]):
            return is_tensor(node.left, names) or is_tensor(node.comparators[0], names)
        case ast.Subscript():
            return is_tensor(node.value, names)
        case ast.Call():
            return _gives_tensor(node, names)
    return False


def _gives_tensor(node: ast.Call, names: frozenset[str]) -> bool:
    where, name = function_called(node)
    if where:
        return name in FUNCTIONS[where] and not any(keyword.arg == "out" for keyword in node.keywords)
    if not isinstance(node.func, ast.Attribute) or not is_tensor(node.func.value, names):
        return False
    whole = node.func.attr in {"max", "min", "all", "any"} and not node.args and not node.keywords
    return whole or node.func.attr in SAME_BOTH_WAYS | VIEWS
