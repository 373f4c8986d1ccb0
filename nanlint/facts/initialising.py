"""Whether a parameter that is made of bare memory is written before it is read, as far as one file tells.

People fill parameters in `__init__`, in `reset_parameters`, in an `_init_weights` of another class, or in a loop over
all of them. What is filled is known by its name here, wherever in the file that happens: too generous at worst.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.source.references import last_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.source.outline import Outline

# A module of these is empty on purpose until a checkpoint is loaded into it.
_LOAD_ONLY = re.compile(
    r"weight_loader|load_weights|inference|quant|int8|int4|fp8|4bit|8bit|nf4|awq|gptq", re.IGNORECASE
)
# A class above of this kind knows nothing of the parameters below.
_FILLS_NOTHING = re.compile(r"Mixin$|^(LightningModule|PreTrainedModel)$")
# Their own reset_parameters fills whatever parameters there are.
_RECURRENT = frozenset({"RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell", "RNNBase", "RNNCellBase"})
# A mask is filled with -inf.
_INITIALISES = re.compile(
    r"\binit\.\w+\(|init\w*_(?:weights|parameters)|reset_\w*(?:weights|parameters)|(?:normal|uniform|zero|constant|(?<!masked_)fill)_\((?!.*inf)"
)
_TRAINS = re.compile(r"loss|optim|backward|\btrain")
_BARE = re.compile(r"empty|Tensor\(")


def is_plainly_filled(name: str, lines: Iterable[str]) -> bool:
    """Whether one line fills a parameter of this name: the usual case, told without a walk over the whole file."""
    # An `initializer` may be None.
    around = re.compile(rf"(?<!_)(?:init\w*|fill|reset)\w*[.(].*\b{name}\b|\b{name}\b[\w.]*\.\w+_\(")
    return any(name in line and around.search(line) for line in lines)


def handed_to(name: str, function: ast.AST) -> Iterator[str]:
    """The attributes that get what a name of the function holds: of `self.weight = made`, and of `register_parameter("weight", made)`."""
    for node in handing_in(function):
        if isinstance(node, ast.Call) and name in map(last_word, node.args):
            yield from (str(given.value) for given in node.args if isinstance(given, ast.Constant))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield from (target.attr for target in node.targets if isinstance(target, ast.Attribute))


@lru_cache(256)
def handing_in(function: ast.AST) -> list[ast.Assign | ast.Call]:
    """The assignments of a function, and its calls of `register_parameter`; a function may make hundreds of parameters."""
    return [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) or (isinstance(node, ast.Call) and last_word(node.func) == "register_parameter")
    ]


def is_for_loading(lines: list[str]) -> bool:
    """Whether weights come with a checkpoint: nothing gives them first values, or they are loaded and nothing is trained."""
    if not any(_INITIALISES.search(line) for line in lines):
        return True
    return any("load_state_dict(" in line for line in lines) and not any(_TRAINS.search(line) for line in lines)


def is_stand_in(name: str, function: ast.AST) -> bool:
    """Whether an attribute gets other values on another way through the function, so that bare memory may be a stand-in."""
    values = [
        node.value
        for node in handing_in(function)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Attribute) and target.attr == name for target in node.targets)
    ]
    return any(not isinstance(value, ast.Constant) and not _BARE.search(ast.unparse(value)) for value in values)


def name_of(around: Iterable[cst.CSTNode]) -> str:
    """The name that something is kept under, given the nodes around it: `weight` of `self.weight = ...`; empty for none."""
    for parent in around:
        if isinstance(parent, cst.Assign):
            return _target(parent.targets[0].target)
        if isinstance(parent, cst.AnnAssign):
            return _target(parent.target)
        if isinstance(parent, cst.Call) and isinstance(parent.func, cst.Attribute):
            # `init.xavier_uniform_(Parameter(...))` fills what it is given, and hands it on.
            if parent.func.attr.value.endswith("_"):
                return ""
            first = parent.args[0].value if parent.args else None
            if parent.func.attr.value == "register_parameter" and isinstance(first, cst.SimpleString):
                return str(first.evaluated_value)
        if isinstance(parent, cst.Return | cst.Lambda | cst.BaseCompoundStatement):
            return ""
    return ""


def _target(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def is_module(lineage: list[str], inner: cst.ClassDef | None, outline: Outline) -> bool:
    """Whether nobody elsewhere fills the parameters of a class, as far as the names of the classes above tell.

    It is no mixin, none that is loaded, no recurrent one that fills what there is.

    `inner` is a class that is written inside a function, which the outline does not list.
    """
    said = {word for name in lineage for word in _said(name, outline)}
    if any(_LOAD_ONLY.search(word) for word in (*outline.classes, *said)):
        return False
    bases = _bases(lineage, inner, outline)
    if "reset_parameters" in said and any(last_word(base) in _RECURRENT for base in bases):
        return False
    # What has no base is mixed into a module that is written elsewhere.
    return bool(bases) and all(_is_known(base, outline) or _FILLS_NOTHING.search(last_word(base)) for base in bases)


def is_own_module(lineage: list[str], inner: cst.ClassDef | None, outline: Outline) -> bool:
    """Whether every class above is of this file or torch's own, so that nobody elsewhere can fill its parameters."""
    return all(_is_known(base, outline) for base in _bases(lineage, inner, outline))


def _is_known(base: ast.expr, outline: Outline) -> bool:
    return _is_of_torch(base, outline) or last_word(base) in outline.classes


def _bases(lineage: list[str], inner: cst.ClassDef | None, outline: Outline) -> list[ast.expr]:
    bases = [base for name in lineage for base in outline.classes[name].bases]
    if inner is not None:
        code = cst.Module([])
        bases += [ast.parse(code.code_for_node(base.value), mode="eval").body for base in inner.bases]
    return bases


def _said(class_name: str, outline: Outline) -> Iterator[str]:
    for chunk in outline.chunks.values():
        if chunk.owner == class_name:
            yield chunk.name
            yield from chunk.words


def _is_of_torch(base: ast.expr, outline: Outline) -> bool:
    dotted = ast.unparse(base)
    head, _, rest = dotted.partition(".")
    meant = outline.imports.get(head, head)
    return f"{meant}.{rest}".startswith(("torch.nn.", "torch.")) or meant.startswith("torch.nn")
