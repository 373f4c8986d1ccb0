"""The questions a rule may ask about one file.

Everything is worked out when it is first asked for: a chunk is parsed when a rule walks it or another chunk needs it,
and interpreted when a rule asks for a value. Unknown stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.flow import Flow
from nanlint.facts.names import imported_name
from nanlint.facts.values import UNKNOWN, Call, Value
from nanlint.source.walk import walk
from nanlint.source.lines import split_lines
from nanlint.source.outline import MODULE, Chunk, Outline
from nanlint.source.parse import ParsedChunk, parse_chunk

if TYPE_CHECKING:
    from nanlint.model import Span

# A message quotes at most this much of an expression.
_QUOTED = 60


class ModuleFacts:
    """One file: its chunks, and what is known about them."""

    def __init__(self, text: str, outline: Outline) -> None:
        self.outline = outline
        self._lines = split_lines(text)
        self._parsed: dict[str, ParsedChunk] = {}
        self._flows: dict[str, Flow | None] = {}
        self._current = ""

    # -- what the engine uses ---------------------------------------------------------------------------------

    def parse(self, qualname: str) -> ParsedChunk:
        """The chunk as libcst sees it."""
        if qualname not in self._parsed:
            self._parsed[qualname] = parse_chunk(self.outline.chunks[qualname], self._lines)
        return self._parsed[qualname]

    def flow(self, qualname: str) -> Flow | None:
        """The chunk, interpreted; None while that is under way (recursion) or if there is no such chunk."""
        if qualname not in self._flows:
            if qualname not in self.outline.chunks:
                return None
            self._flows[qualname] = None
            self._flows[qualname] = Flow(self.parse(qualname), self)
        return self._flows[qualname]

    @property
    def current_line(self) -> int:
        """The first line of the chunk at hand."""
        return self.outline.chunks[self._current].first_line

    def forget(self) -> None:
        """Let go of every tree. Facts and flows refer to each other, and worker processes run without the collector."""
        self._parsed.clear()
        self._flows.clear()

    # -- what the evaluator uses ------------------------------------------------------------------------------

    def imported(self, node: cst.BaseExpression, chunk: Chunk) -> str | None:
        """The full dotted name behind `node`, if an import or a builtin says so."""
        return imported_name(node, self.outline, chunk.bound)

    def global_value(self, name: str, asking: Chunk) -> Value:
        """What a module-level name holds when the module has been run; a function holds what it returns."""
        if asking.name == MODULE or name in asking.bound:
            return UNKNOWN
        flow = self.flow(MODULE)
        return flow.final.names.get(name, UNKNOWN) if flow is not None else UNKNOWN

    def attribute_value(self, owner: str, attribute: str) -> Value:
        """What `self.<attribute>` holds: set once in __init__ (or in the class body), and nowhere else."""
        if not owner or self._is_set_elsewhere(owner, attribute):
            return UNKNOWN
        flow = self.flow(f"{owner}.__init__")
        if flow is not None and f"self.{attribute}" in flow.final.names:
            return flow.final.names[f"self.{attribute}"]
        body = self.flow(owner)
        return body.final.names.get(attribute, UNKNOWN) if body is not None else UNKNOWN

    def _is_set_elsewhere(self, owner: str, attribute: str) -> bool:
        return any(
            attribute in chunk.stored_attributes
            for chunk in self.outline.chunks.values()
            if chunk.owner == owner and chunk.name not in {"__init__", owner}
        )

    def returned_by(self, owner: str, function: str) -> Value | None:
        """The one value that a helper of this file, or a method of the same class, returns; None if it has none."""
        qualname = f"{owner}.{function[5:]}" if function.startswith("self.") else function
        if qualname not in self.outline.chunks or f"{qualname}#2" in self.outline.chunks:
            return None
        flow = self.flow(qualname)
        return flow.returned if flow is not None else None

    # -- what a rule asks -------------------------------------------------------------------------------------

    def enter(self, qualname: str) -> ParsedChunk:
        """Make `qualname` the chunk that the questions below are about."""
        self._current = qualname
        return self.parse(qualname)

    def value_of(self, node: cst.BaseExpression) -> Value:
        """All that is known of what `node` evaluates to."""
        flow = self.flow(self._current)
        return flow.values.get(node, UNKNOWN) if flow is not None else UNKNOWN

    def call_of(self, node: cst.CSTNode) -> Call | None:
        """The operation that `node` is, whatever its spelling."""
        flow = self.flow(self._current)
        return flow.calls.get(node) if flow is not None else None

    def constant_of(self, node: cst.BaseExpression | None) -> float | None:
        """The number that `node` is, through names, defaults and arithmetic; None when it is not known."""
        return self.value_of(node).number if node is not None else None

    def origin_of(self, node: cst.BaseExpression | None) -> Call | None:
        """The operation that made the values of `node`, seen through names, attributes, views and casts."""
        return self.value_of(node).origin if node is not None else None

    def is_here(self, node: cst.CSTNode) -> bool:
        """Whether `node` stands in the chunk at hand, and not in a helper or constructor elsewhere."""
        flow = self.flow(self._current)
        return flow is not None and node in flow.values

    def is_unchanged(self, node: cst.BaseExpression, at: cst.CSTNode) -> bool:
        """Whether every name in `node` still holds, at `at`, what it held where `node` stands."""
        flow = self.flow(self._current)
        if flow is None or node not in flow.envs or at not in flow.envs:
            return False
        then, now = flow.envs[node].names, flow.envs[at].names
        names = [inner.value for inner in walk(node) if isinstance(inner, cst.Name)]
        return not _has_side_effect(node) and all(
            then.get(name, UNKNOWN).identity is now.get(name, UNKNOWN).identity for name in names
        )

    def regions_at(self, node: cst.CSTNode) -> tuple[Call, ...]:
        """The `with` statements and decorators around `node`, outermost first."""
        flow = self.flow(self._current)
        return flow.envs[node].regions if flow is not None and node in flow.envs else ()

    def parents_of(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around `node`, innermost first, up to the chunk."""
        parents = self.parse(self._current).parents
        while (parent := parents.get(node)) is not None:
            yield parent
            node = parent

    def name_for(self, module: str) -> str | None:
        """How this file spells `module`: `F` after `import torch.nn.functional as F`; None if it can't."""
        for local, dotted in self.outline.imports.items():
            if dotted == module:
                return local
        parent, _, last = module.rpartition(".")
        spelled = self.name_for(parent) if parent else None
        return f"{spelled}.{last}" if spelled else None

    def source_of(self, node: cst.CSTNode) -> str:
        """The text of `node` as it is written, without parentheses around it."""
        bare = node.with_changes(lpar=(), rpar=()) if getattr(node, "lpar", ()) else node
        return self.parse(self._current).source_of(bare)

    def quote(self, node: cst.CSTNode) -> str:
        """The text of `node` on one line, short enough for a message."""
        text = " ".join(self.source_of(node).split())
        return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"

    def span_of(self, node: cst.CSTNode) -> Span:
        """Where `node` stands in the file."""
        return self.parse(self._current).span_of(node)


def _has_side_effect(node: cst.BaseExpression) -> bool:
    """Whether writing `node` a second time could give another value: random numbers, calls of unknown things."""
    return any(isinstance(inner, (cst.Call, cst.Await, cst.NamedExpr, cst.Yield)) for inner in walk(node))
