"""Where a hazard or a guard is moved to: each move writes the files of one item, by name.

What is moved is called `moved` or `part` and the parameters have no annotation, so that nothing is told by a word.
"""

from __future__ import annotations

import ast

from tests.moved.material import Cut, Guard, function_with, holds_the_rest, replaced

Files = dict[str, str]


def _function(name: str, parameters: list[str], body: list[str]) -> str:
    lines = [line for text in body for line in text.splitlines()]
    return f"def {name}({', '.join(parameters)}):\n" + "".join(f"    {line}\n" for line in lines)


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def _parts(cut: Cut) -> tuple[list[str], str]:
    """The names that the moved expression reads, and its text."""
    value = cut.statement.value  # type: ignore[attr-defined] # hazards are moved out of `return` and `=` alone
    return cut.free(value), ast.unparse(value)


def _calling(cut: Cut, called: str, *, first: str = "") -> str:
    """The function with a call in the place of the moved expression."""
    names, _ = _parts(cut)
    call = ast.parse(f"{called}({', '.join(names)})", mode="eval").body
    value = cut.statement.value  # type: ignore[attr-defined] # as above
    body = [replaced(one, value, call) if one is cut.statement else one for one in cut.function.body]
    text = ast.unparse(function_with(cut.function, body))
    return text.replace(f"def {cut.function.name}(", f"def {cut.function.name}({first}", 1) if first else text


def inline(cut: Cut) -> Files:
    """As it stands in the fixture."""
    return {"main.py": f"{cut.preamble}\n{ast.unparse(cut.function)}\n"}


def into_a_helper(cut: Cut) -> Files:
    names, text = _parts(cut)
    helper = _function("moved", names, [f"return {text}"])
    return {"main.py": f"{cut.preamble}\n{helper}\n{_calling(cut, 'moved')}\n"}


def into_a_method(cut: Cut) -> Files:
    """Of the class of the caller, or of another class, by turns."""
    names, text = _parts(cut)
    method = _indented(_function("moved", ["self", *names], [f"return {text}"]))
    if len(cut.name) % 2:
        owner = f"class Owner:\n{method}\n{_indented(_calling(cut, 'self.moved', first='self, '))}"
    else:
        owner = f"class Owner:\n{method}\n{_calling(cut, 'Owner().moved')}"
    return {"main.py": f"{cut.preamble}\n{owner}\n"}


def into_a_submodule(cut: Cut) -> Files:
    names, text = _parts(cut)
    part = f"class Part(torch.nn.Module):\n{_indented(_function('forward', ['self', *names], [f'return {text}']))}"
    made = "    def __init__(self):\n        super().__init__()\n        self.part = Part()\n"
    forward = _calling(cut, "self.part", first="self, ").replace(f"def {cut.function.name}(", "def forward(", 1)
    return {"main.py": f"{cut.preamble}\n{part}\nclass Whole(torch.nn.Module):\n{made}\n{_indented(forward)}\n"}


def into_another_file(cut: Cut) -> Files:
    names, text = _parts(cut)
    helper = _function("moved", names, [f"return {text}"])
    return {
        "elsewhere.py": f"{cut.preamble}\n{helper}\n",
        "main.py": f"{cut.preamble}\nfrom {{folder}}.elsewhere import moved\n{_calling(cut, 'moved')}\n",
    }


HAZARD_MOVES = {
    "helper": into_a_helper,
    "method": into_a_method,
    "submodule": into_a_submodule,
    "other file": into_another_file,
}


def guard_inline(guard: Guard) -> Files:
    return {"main.py": f"{guard.cut.preamble}\n{ast.unparse(guard.cut.function)}\n"}


def _in_the_caller(guard: Guard, inner: str) -> Files:
    """The guard and what stands before it stay; the rest is called."""
    cut = guard.cut
    at = cut.function.body.index(cut.statement)
    before, rest = cut.function.body[:at], cut.function.body[at + 1 :]
    if guard.guard is not None:
        rest = [replaced(cut.statement, guard.guard, ast.Name("guarded")), *rest]
        names = [name for name in cut.free(*rest) if _is_read_first(name, rest)]
        before_texts = [*map(ast.unparse, before), f"guarded = {ast.unparse(guard.guard)}"]
        names.append("guarded")
        call = f"return {inner}({', '.join(names)})"
        return _two_functions(cut, inner, names, [*map(ast.unparse, rest)], [*before_texts, call])
    if holds_the_rest(cut.statement):
        inside = cut.statement.body  # type: ignore[attr-defined] # it is an `if`
        names = cut.free(*inside)
        test = ast.unparse(cut.statement.test)  # type: ignore[attr-defined] # likewise
        after = [f"if {test}:\n    return {inner}({', '.join(names)})", *map(ast.unparse, rest)]
        return _two_functions(cut, inner, names, [*map(ast.unparse, inside)], [*map(ast.unparse, before), *after])
    names = [name for name in cut.free(*rest) if _is_read_first(name, rest)]
    after = [*map(ast.unparse, [*before, cut.statement]), f"return {inner}({', '.join(names)})"]
    return _two_functions(cut, inner, names, [*map(ast.unparse, rest)], after)


def _is_read_first(name: str, body: list[ast.stmt]) -> bool:
    for statement in body:
        found = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id == name]
        if found:
            return any(isinstance(node.ctx, ast.Load) for node in found)
    return False


def _two_functions(cut: Cut, inner: str, names: list[str], inside: list[str], outside: list[str]) -> Files:
    called = _function(inner, names, inside)
    caller = _indented("\n".join(outside))
    head = ast.unparse(function_with(cut.function, [])).rpartition("\n")[0]
    return {"main.py": f"{cut.preamble}\n{called}\n{head}\n{caller}\n"}


def guard_in_the_caller_of_a_private(guard: Guard) -> Files:
    return _in_the_caller(guard, "_moved")


def guard_in_the_caller_of_a_public(guard: Guard) -> Files:
    return _in_the_caller(guard, "moved")


def guard_in_a_helper(guard: Guard) -> Files:
    """The guarding expression, the condition, or the assignment becomes a function."""
    cut = guard.cut
    if guard.guard is not None:
        part, names, body = guard.guard, cut.free(guard.guard), [f"return {ast.unparse(guard.guard)}"]
        new = replaced(cut.statement, part, ast.parse(f"moved({', '.join(names)})", mode="eval").body)
    elif isinstance(cut.statement, ast.If):
        part, names = cut.statement.test, cut.free(cut.statement.test)
        body = [f"return {ast.unparse(part)}"]
        new = ast.If(ast.parse(f"moved({', '.join(names)})", mode="eval").body, cut.statement.body, [])
    else:
        target = ast.unparse(cut.statement.targets[0].value)  # type: ignore[attr-defined] # an assignment to a part
        names = cut.free(cut.statement)
        body = [ast.unparse(cut.statement), f"return {target}"]
        new = ast.parse(f"{target} = moved({', '.join(names)})").body[0]
    function = function_with(cut.function, [new if one is cut.statement else one for one in cut.function.body])
    return {"main.py": f"{cut.preamble}\n{_function('moved', names, body)}\n{ast.unparse(function)}\n"}


GUARD_MOVES = {
    "caller of private": guard_in_the_caller_of_a_private,
    "caller of public": guard_in_the_caller_of_a_public,
    "helper": guard_in_a_helper,
}
