"""Where a script begins: its own `__main__` block, that of a file which imports the flagged one, or a function to call."""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import os
import re
import sys
import types
from typing import TYPE_CHECKING, Any

from nanlint.confirm.worker.evidence import Uses
from nanlint.confirm.worker.examples import HOOK, HOOKS_FILE, supplied
from nanlint.confirm.worker.guards import demands_on
from nanlint.confirm.worker.load import source_text
from nanlint.confirm.worker.slices import compiled, loaded_names, stored_names
from nanlint.confirm.worker.subject import CannotRun, subjects_of
from nanlint.confirm.worker.training.log import ROUNDS
from nanlint.confirm.worker.training.things import Things, is_known
from nanlint.confirm.worker.training.unbuilt import built, completed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.confirm.conditions import Demand

Json = dict[str, Any]
SUPPLIED = "nanlint_inputs()"
LOOP = "the loop"
"""A loop of a script or notebook that is in no function."""
_MOST_FILES = 60
# What a script has at hand when its loop begins, and what nobody has to stand in for.
_AT_HAND = (int, float, str, bool, type(None), type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)
_LOOPS = re.compile(r"^(fit|train|run|learn|main|train_loop|training_loop|start|__call__)$")


def scripts_for(target: Json) -> Iterator[str]:
    """Files that lead to the flagged line when they are run: the file itself, then those that import it."""
    own = source_text(target["path"])
    if _is_script(own):
        yield target["path"]
    name = target["module"].rpartition(".")[2]
    for path in _neighbours(target):
        text = source_text(path)
        if path != target["path"] and re.search(rf"\b(import|from)\b.*\b{name}\b", text) and _is_script(text):
            yield path


def _neighbours(target: Json) -> list[str]:
    folders = dict.fromkeys([os.path.dirname(target["path"]), target["root"], target["project"]])  # noqa: PTH120 - strings
    found = [os.path.join(folder, name) for folder in folders for name in sorted(_listed(folder))]  # noqa: PTH118 - strings
    return [path for path in dict.fromkeys(found) if path.endswith(".py")][:_MOST_FILES]


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - strings
    except OSError:
        return []


def _is_script(text: str) -> bool:
    """Whether something happens when the file is run."""
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return False
    return any("__main__" in ast.unparse(node.test) for node in body if isinstance(node, ast.If)) or any(
        isinstance(node, (ast.For, ast.While, ast.With)) and ".backward(" in ast.unparse(node) for node in body
    )


def run_script(path: str) -> None:
    """Run a file as the program."""
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    sys.argv = [path]
    _first_on_path(_root_of(path))
    exec(compile(source_text(path), path, "exec", dont_inherit=True), vars(module))  # noqa: S102 - the user's own script, in the sandbox


def _root_of(path: str) -> str:
    """The folder that is first on the path of a program: its own, or that from which its package is imported."""
    folder = os.path.dirname(path)  # noqa: PTH120 - strings
    while os.path.isfile(os.path.join(folder, "__init__.py")):  # noqa: PTH113, PTH118 - strings
        folder = os.path.dirname(folder)  # noqa: PTH120 - strings
    return folder


def _first_on_path(folder: str) -> None:
    sys.path[:] = [folder, *(one for one in sys.path if one != folder)]


def forget(target: Json) -> None:
    """Take the user's own modules out of the cache, so that each run imports them anew."""
    folders = tuple({os.path.dirname(target["path"]) + os.sep, target["root"] + os.sep})  # noqa: PTH120 - strings
    for name, module in list(sys.modules.items()):
        if name != "__main__" and str(getattr(module, "__file__", None) or "").startswith(folders):
            del sys.modules[name]


def hooks_for(target: Json) -> list[str]:
    """The user's own call, if there is a hook that may hold one."""
    folders = [os.path.dirname(target["path"]), target["root"], target["project"]]  # noqa: PTH120 - strings
    is_there = HOOK in source_text(target["path"]) or any(HOOKS_FILE in _listed(folder) for folder in folders)
    return [SUPPLIED] if is_there and target["owners"] else []


def call_supplied(target: Json) -> None:
    """Call what the user's hook says, as often as it takes."""
    module = importlib.import_module(target["module"])
    calls = supplied(subjects_of(module, target["owners"])[0], target)
    if not calls:
        raise CannotRun(f"no `{HOOK}` is about it")
    for _ in range(ROUNDS):
        calls[0].function(**calls[0].arguments)


def calls_for(target: Json) -> list[str]:
    """What can be called where no script leads there: the function, or a class and the method that runs the loop."""
    if "loop" in target:
        return [LOOP]
    kinds = [kind for kind, _ in target["owners"][:2]]
    names = [name for _, name in target["owners"][:2]]
    return [".".join(names)] if kinds == ["class", "def"] else names[:1] if kinds[:1] == ["def"] else []


def call(name: str, target: Json, recipe: Json, guessed: list[str]) -> object:
    """Import the file and call what is named, with things that suit the names of its parameters; `guessed` takes the rest.

    Returns what the call gives.
    """
    _first_on_path(target["root"])
    if name == LOOP:
        loop = target["loop"]
        return loop(**Things(recipe, sys.modules["torch"], guessed).for_function(loop))
    module = _module_of(target)
    first, _, method = name.partition(".")
    thing, things = getattr(module, first), Things(recipe, module, guessed)
    wanted = {one.path: _demanded(one, things) for one in demands_on(target) if "key" not in one.what}
    for missing in recipe.get("globals", ()):
        # A script defines it where it is run as one.
        guessed.append(missing)
        setattr(module, missing, things.attribute(missing, Uses()))
    if not method:
        # A function may be the loop or one step of it.
        for _ in range(ROUNDS):
            result = thing(**things.for_function(thing, wanted))
        return result
    made = completed(built(thing, things), things, target)
    # What restores a run, or belongs to an object that was not constructed, is called by itself.
    is_alone = recipe.get("resumes") or recipe.get("unbuilt")
    function = getattr(made, method if is_alone and method != "__init__" else _method_around(thing, method))
    for _ in range(ROUNDS):
        result = function(**things.for_function(function, wanted))
    return result


def _demanded(demand: Demand, things: Things) -> Any:
    """A value that leads to the flagged line: the one that a test asks for, or something instead of None."""
    return things.attribute(demand.path, Uses()) if demand.what in {"given", "true"} else demand.value


def _module_of(target: Json) -> types.ModuleType:
    """The module of the file, also of one whose name is none of a module."""
    try:
        return importlib.import_module(target["module"])
    except ModuleNotFoundError as error:
        spec = importlib.util.spec_from_file_location(target["module"], target["path"])
        if not str(target["module"]).startswith(str(error.name)) or spec is None or spec.loader is None:
            raise
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def asked_for(name: str, target: Json) -> list[str]:
    """The parameters of what is called, and of the methods of its class."""
    if name == LOOP:
        code = target["loop"].__code__
        return list(code.co_varnames[: code.co_argcount])
    wanted = set(name.split("."))
    tree = ast.parse(source_text(target["path"]))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in wanted]
    return [one.arg for function in functions for one in function.args.args if one.arg != "self"]


def _method_around(owner: type, flagged: str) -> str:
    """The method that runs the loop around the flagged one: one whose arguments are known, else the flagged one itself."""
    own = {name: value for name, value in vars(owner).items() if isinstance(value, types.FunctionType)}
    return next((name for name in own if _LOOPS.match(name) and all(map(is_known, _required(own[name])))), flagged)


def _required(function: Any) -> list[str]:
    """The parameters of a method that have no default."""
    code, defaults = function.__code__, len(function.__defaults__ or ())
    return list(code.co_varnames[1 : code.co_argcount - defaults])


def loop_at(module: types.ModuleType, target: Json) -> Any:
    """The outermost loop around the flagged line of a script or notebook, as a function of what it does not define itself."""
    loop = _outermost(ast.parse(source_text(target["path"])).body, target["first"])
    if loop is None:
        raise CannotRun("the flagged line is in no function and in no loop, so there is nothing to drive")
    at_hand = {name for name, value in vars(module).items() if isinstance(value, _AT_HAND)} | set(dir(builtins))
    free = sorted(loaded_names(loop) - stored_names(loop) - at_hand)
    return compiled([loop], free, target["path"], module)


def _outermost(body: Iterable[ast.stmt], line: int) -> ast.stmt | None:
    for statement in body:
        if not statement.lineno <= line <= (statement.end_lineno or statement.lineno):
            continue
        if isinstance(statement, (ast.For, ast.While)):
            return statement
        if isinstance(statement, (ast.If, ast.With, ast.Try)):
            inner = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
            return _outermost(inner, line)
    return None
