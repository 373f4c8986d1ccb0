"""Parameters that are made of memory as it is, and whether the project writes them before they are read.

People fill parameters in `__init__`, in `reset_parameters` of the class or one above, in an `_init_weights` of another class, in a script
that applies a function to all modules. What is filled is known by its name in the files that can know the class: too generous at worst.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from nanlint.analysis.listed_nodes import nodes_of
from nanlint.analysis.name_hints import LENGTHS_OF_SIDES
from nanlint.analysis.op_graph import ARRAY, CALL, NUMBER, TENSOR, TUPLE, Op, Value, made_from
from nanlint.analysis.project.filled import called_for_effect, filled_by, fills
from nanlint.analysis.project.syntax_names import dotted, last_word, names_below
from nanlint.source.syntax.below import walk
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.analysis.project.definitions import Class, Function, Module
    from nanlint.analysis.project.index import Project

EMPTY = ("torch.empty", "torch.empty_like", "torch.empty_strided", "torch.Tensor.new_empty", ".new_empty")
# `torch.Tensor(4, 3)` is memory, `torch.Tensor(values)` is values.
_BY_SIZE = "torch.Tensor"
# A module of these is empty on purpose until a checkpoint is loaded into it.
_LOAD_ONLY = re.compile(
    r"weight_loader|load_weights|inference|quant|int8|int4|fp8|4bit|8bit|nf4|awq|gptq", re.IGNORECASE
)
# A class above of this kind knows nothing of the parameters below.
_FILLS_NOTHING = re.compile(r"Mixin$|^(LightningModule|PreTrainedModel)$")
# Their own reset_parameters fills whatever parameters there are.
_RECURRENT = word_set("RNN LSTM GRU RNNCell LSTMCell GRUCell RNNBase RNNCellBase")
# A mask is filled with -inf.
_INITIALISES = re.compile(
    r"\binit\.\w+\(|init\w*_(?:weights|parameters)|reset_\w*(?:weights|parameters)|(?:normal|uniform|zero|constant|(?<!masked_)fill)_\((?!.*inf)"
)
_TRAINS = re.compile(r"loss|optim|backward|\btrain")
_BARE = re.compile(r"empty|Tensor\(")


class Unwritten(NamedTuple):
    """A parameter that nothing seen writes."""

    name: str
    memory: Op
    may_be_written_elsewhere: bool
    """By a class above that is of another project, or by a checkpoint."""


def bare(value: Value) -> Op | None:
    """The operation by which a value is memory as it is: with elements, of floats, on a real device; None for any other value."""
    memory = made_from(value)
    if memory is None or value.dtype in {"int", "bool"} or not isinstance(memory.node, ast.Call):
        return None
    written = [each for each in memory.node.args if not isinstance(each, ast.Starred)]
    if written and "expert" in ast.unparse(written[0]):
        return None  # of a mixture, whose experts are gathered from a pretrained model
    sizes = [*memory.rest, *memory.operands.values()]
    if _name(memory) == _BY_SIZE:
        return memory if _are_sizes(written, sizes) else None
    devices = [each.value for each in memory.node.keywords if each.arg == "device"]
    is_on_meta = any("meta" in ast.unparse(each) for each in devices)
    has_none = any(each.number == 0 for each in sizes if each.kind is NUMBER)
    return memory if _name(memory) in EMPTY and not is_on_meta and not has_none else None


def _name(op: Op) -> str:
    name = op.where if op.function == CALL else op.function
    return _BY_SIZE if re.fullmatch(r"torch\.(cuda\.)?(Float|Half)?Tensor", name) else name


def _are_sizes(written: list[ast.expr], values: list[Value]) -> bool:
    """Whether what `torch.Tensor` is given is no data: two arguments, or one that is a number or called as one."""
    if len(written) != 1:
        return len(written) > 1
    is_named = not LENGTHS_OF_SIDES.isdisjoint(re.split(r"[\W_]+", ast.unparse(written[0]).lower()))
    known = [each for each in values[:1] if each.kind not in {TENSOR, ARRAY, TUPLE}]
    is_number = any(each.kind is NUMBER and each.number != 0 for each in known)
    return bool(known) and (is_number or is_named) and known[0].number != 0


def unwritten(op: Op, function: Function) -> Unwritten | None:
    """The parameter that `op` makes of bare memory in a method of a module, if nothing that may know it writes it; else None."""
    given = op.operands.get("0") or op.operands.get("data")
    memory, owner = bare(given) if given is not None else None, function.owner
    learned = op.operands.get("requires_grad") or op.operands.get("1")
    name = _kept_as(op.node, function.node)
    is_fixed = learned is not None and learned.constant is False
    if memory is None or owner is None or is_fixed or not name:
        return None
    project = function.module.project
    lineage = project.lineage(owner)
    if not _is_module(lineage) or _is_stand_in(name, memory, function, owner):
        return None
    names = {name, *_handed_on(function.node).get(name, ())}
    if _is_written(names, lineage, project):
        return None
    is_for_loading = _name(memory) != _BY_SIZE and _is_for_loading(function.module.text.split("\n"))
    elsewhere = any(not _is_known(base, each) for each in lineage for base in each.bases)
    return Unwritten(name, memory, elsewhere or is_for_loading)


# -- where it is kept ---------------------------------------------------------------------------------------------------


def _kept_as(made: ast.AST | None, function: ast.AST) -> str:
    """The name that something is kept under: `weight` of `self.weight = ...`; empty for none."""
    statement = _statements_around(function).get(id(made))
    around = _around(made, statement.value) if statement is not None and statement.value is not None else None
    if statement is None or around is None:
        return ""
    for call in around:
        # `init.xavier_uniform_(Parameter(...))` fills what it is given, and hands it on.
        if last_word(call).endswith("_"):
            return ""
        if last_word(call) == "register_parameter" and call.args and isinstance(call.args[0], ast.Constant):
            return str(call.args[0].value)
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    target, value = targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = zip(target.elts, value.elts, strict=True)
        target = next(name for name, given in pairs if _around(made, given) is not None)
    return last_word(target) if isinstance(target, ast.Name | ast.Attribute) else ""


@lru_cache(maxsize=16)
def _statements_around(function: ast.AST) -> dict[int, ast.Assign | ast.AnnAssign | ast.Expr]:
    """The identity of each expression in a function -> the statement that it stands in."""
    statements: list[ast.Assign | ast.AnnAssign | ast.Expr] = []
    statements += nodes_of(function, ast.Assign)
    statements += nodes_of(function, ast.AnnAssign)
    statements += nodes_of(function, ast.Expr)
    return {id(node): each for each in statements if each.value is not None for node in walk(each.value)}


def _around(made: ast.AST | None, whole: ast.expr) -> list[ast.Call] | None:
    """The calls around `made` in an expression; None if it does not stand there."""
    if made is whole:
        return []
    for child in ast.iter_child_nodes(whole):
        inner = _around(made, child) if not isinstance(child, ast.Lambda) else None  # type: ignore[arg-type] # keywords and the like have children alone
        if inner is not None:
            return [*inner, whole] if isinstance(whole, ast.Call) and _is_method(whole) else inner
    return None


def _is_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute)


@lru_cache(maxsize=16)
def _handed_on(function: ast.AST) -> dict[str, list[str]]:
    """Each name -> the attributes that get what it holds: of `self.weight = made`, and of `register_parameter("weight", made)`."""
    found: dict[str, list[str]] = {}
    for call in nodes_of(function, ast.Call):
        if last_word(call.func) == "register_parameter":
            attributes = [str(given.value) for given in call.args if isinstance(given, ast.Constant)]
            for name in map(last_word, call.args):
                found.setdefault(name, []).extend(attributes)
    for node in nodes_of(function, ast.Assign):
        if isinstance(node.value, ast.Name):
            attributes = [target.attr for target in node.targets if isinstance(target, ast.Attribute)]
            found.setdefault(node.value.id, []).extend(attributes)
    return found


@lru_cache(maxsize=16)
def _given_to_attributes(function: ast.AST) -> dict[str, list[ast.expr]]:
    """What a method assigns to each attribute."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes_of(function, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute):
                found.setdefault(target.attr, []).append(node.value)
    return found


def _is_stand_in(name: str, memory: Op, function: Function, owner: Class) -> bool:
    """Whether an attribute gets other values in another method, or, as one element, on another way through this one."""
    is_single = all(each.number == 1 for each in (*memory.rest, *memory.operands.values()))
    others = [method for method in owner.methods.values() if method is not function or is_single]
    values = [value for method in others for value in _given_to_attributes(method.node).get(name, ())]
    return any(not isinstance(value, ast.Constant) and not _BARE.search(ast.unparse(value)) for value in values)


# -- who may write it ---------------------------------------------------------------------------------------------------


def _is_module(lineage: list[Class]) -> bool:
    """Whether nobody outside of the project fills its parameters by what the class is: no mixin, none that is loaded, no recurrent one."""
    said = frozenset[str]().union(*(names_below(each.node) for each in lineage))
    if any(_LOAD_ONLY.search(word) for word in (*(each.name for each in lineage), *lineage[0].module.classes, *said)):
        return False
    bases = [(base, each) for each in lineage for base in each.bases]
    if "reset_parameters" in said and any(base.rpartition(".")[2] in _RECURRENT for base, _ in bases):
        return False
    # What has no base is mixed into a module that is written elsewhere.
    return bool(bases) and all(
        _is_known(base, each) or _FILLS_NOTHING.search(base.rpartition(".")[2]) for base, each in bases
    )


def _is_known(base: str, below: Class) -> bool:
    """Whether a class above is of the project or torch's own."""
    first, _, rest = base.partition(".")
    meant = f"{below.module.imports.get(first, first)}.{rest}"
    return meant.startswith("torch.") or below.module.project.named(base, below.module) is not None


def _is_written(names: set[str], lineage: list[Class], project: Project) -> bool:
    modules = list(dict.fromkeys(each.module for each in lineage))
    for module in modules:
        found = filled_by(module.body.node)
        if found.everything or not names.isdisjoint(found.names) or _is_plainly_filled(names, module):
            return True
    users = [each for module in modules for each in project.importers(module)]
    if any(not names.isdisjoint(filled_by(user.body.node).names) for user in users):
        return True
    return _is_handed_over(names, lineage, [*modules, *users])


def _is_plainly_filled(names: Iterable[str], module: Module) -> bool:
    """Whether one line fills a parameter of this name."""
    for name in names:
        # An `initializer` may be None.
        around = re.compile(rf"(?<!_)(?:init\w*|fill|reset)\w*[.(].*\b{name}\b|\b{name}\b[\w.]*\.\w+_\(")
        if any(name in line and around.search(line) for line in module.text.split("\n")):
            return True
    return False


def _is_handed_over(names: set[str], lineage: list[Class], modules: list[Module]) -> bool:
    """Whether an object of the class is handed to what fills it."""
    if any(_hands_itself_over(names, call, each) for each in lineage for call in called_for_effect(each.node)):
        return True
    # A function or class that names the class: `if isinstance(m, Norm): constant_init(m, 1)`, `self.norm = Norm(); constant_init(self.norm)`.
    # What ends in `_` fills tensors, by torch's custom.
    called = {each.name for each in lineage}
    bodies: list[ast.AST] = [each.node for module in modules for each in module.functions.values()]
    bodies += [each.node for module in modules for each in module.classes.values() if each not in lineage]
    return any(
        fills(call) and not last_word(call).endswith("_") and any(map(_is_object, call.args))
        for body in bodies
        if not called.isdisjoint(names_below(body))
        for call in called_for_effect(body)
    )


def _hands_itself_over(names: set[str], call: ast.Call, owner: Class) -> bool:
    """`kaiming_init(self)` and `self.apply(init)`, in a method of the class."""
    if last_word(call) == "apply":
        return any(_fills_one_of(names, arg, owner.module) is True for arg in call.args)
    is_own = any(isinstance(arg, ast.Name) and arg.id == "self" for arg in call.args)
    is_above = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)
    if not is_own or is_above:
        return False
    is_filled = _fills_one_of(names, call.func, owner.module)
    return fills(call) if is_filled is None else is_filled


def _fills_one_of(names: set[str], function: ast.expr, module: Module) -> bool | None:
    """Whether a function, as it is written in a file, fills one of these attributes; None for one that is not of the project."""
    node = getattr(module.project.named(dotted(function), module), "node", None) if dotted(function) else None
    if node is None:
        return None
    found = filled_by(node)
    return found.everything or not names.isdisjoint(found.names)


def _is_object(given: ast.expr) -> bool:
    """`m` and `self.norm`, which may be a module; `m.weight` is a part of one."""
    return isinstance(given, ast.Name) or (
        isinstance(given, ast.Attribute) and dotted(given.value) == "self" and given.attr not in {"weight", "bias"}
    )


def _is_for_loading(lines: list[str]) -> bool:
    """Whether weights come with a checkpoint: nothing gives them first values, or they are loaded and nothing is trained."""
    if not any(_INITIALISES.search(line) for line in lines):
        return True
    return any("load_state_dict(" in line for line in lines) and not any(_TRAINS.search(line) for line in lines)
