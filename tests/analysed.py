"""Small sources for the analysis: what it knows of each `reveal(...)`, in the order of reading."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from nanlint.analysis.op_graph import CALL
from nanlint.analysis.project.graph import Graph
from nanlint.analysis.project.index import Project

if TYPE_CHECKING:
    from nanlint.analysis.op_graph import Value
    from nanlint.analysis.project.index import Module

HEADER = "import math\nimport numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def graph_of(header: str = HEADER, **sources: str) -> tuple[Graph, dict[str, Module]]:
    """The graph of a project whose files have these texts, every function of it interpreted."""
    paths = {name: f"/project/{name}.py" for name in sources}
    project = Project("/project", list(paths.values()))
    graph, modules = Graph(project), {}
    for name, text in sources.items():
        module = project.replaced(paths[name], header + textwrap.dedent(text))
        assert module is not None, f"{name} is no Python"
        modules[name] = module
    for module in modules.values():
        graph.run_module(module)
    return graph, modules


def revealed(source: str, *, header: str = HEADER, **others: str) -> list[Value]:
    """What is known at each `reveal(...)` of a source, by line."""
    graph, modules = graph_of(header, **others, main=source)
    return shown_in(graph, modules["main"])


def shown_in(graph: Graph, module: Module) -> list[Value]:
    """The values that are revealed in a file, by line."""
    found = shown_by_place(graph, module)
    return [found[place] for place in sorted(found)]


def shown_by_place(graph: Graph, module: Module) -> dict[tuple[int, int], Value]:
    """Line and column -> the value that is revealed there."""
    return {
        (getattr(op.node, "lineno", 0), getattr(op.node, "col_offset", 0)): op.operands["0"]
        for function in graph.done
        for op in function.ops
        if function.module is module and op.function == CALL and op.where == "reveal" and "0" in op.operands
    }


def ranges(source: str, **others: str) -> list[str]:
    """The ranges of what is revealed, as text."""
    return [str(value.range) for value in revealed(source, **others)]
