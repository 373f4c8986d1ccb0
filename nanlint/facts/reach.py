"""What the names of a file stand for beyond one chunk: its globals, the attributes of its objects, its functions' results.

Imports that lead to other files of the project are followed there. Everything is worked out when it is first asked for. Functions may call each other in circles: what is asked for while it
is being worked out is unknown, and a result that rests on such an unknown is not kept, so that no answer depends on which question came first.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nanlint.facts.flow import Flow
from nanlint.facts.lineage import Classes
from nanlint.facts.names import BUILTINS, declared_global, from_star
from nanlint.facts.neighbours import Neighbours
from nanlint.facts.summaries import as_returned, changed_parameters, decorators, tells_its_result
from nanlint.facts.values import UNKNOWN, Call, Kind, Value, join
from nanlint.facts.written import text_of
from nanlint.source.lines import split_lines
from nanlint.source.outline import MODULE, Chunk, Outline
from nanlint.source.parse import ParsedChunk, parse_chunk
from nanlint.source.sketch import sketch_chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


# Longer chains of helpers that call helpers are cut, long before Python's own stack ends.
_DEEPEST = 30
# In a file with more functions that call each other in circles than this, drafts are kept: time is worth more there.
_MOST_DRAFTS = 500
# No chunk in particular asks.
_ANYWHERE = Chunk(ast.Module([], []), "", "", 0)
_PROPERTIES = frozenset({"property", "cached_property"})


class _Draft(NamedTuple):
    """A result that holds only until the chunk at place `rests_on` has its own."""

    flow: Flow
    rests_on: int


class Reach:
    """One file: its chunks, parsed and interpreted when somebody needs them."""

    def __init__(self, text: str, outline: Outline, path: str = "", *, exact: bool = True) -> None:
        self.outline = outline
        self._neighbours = Neighbours(path, Reach) if path else None
        self._lines = split_lines(text)
        self._parsed: dict[str, ParsedChunk] = {}
        self._exact = set(outline.chunks) if exact else set[str]()
        """The chunks that are parsed and not sketched."""
        self.flows: dict[str, Flow] = {}
        self._globals: Flow | None = None
        self._under_way: list[str] = []
        self._drafts: dict[str, _Draft] = {}
        self._rests_on = _DEEPEST
        """The outermost place in `_under_way` that was asked for its result before it had one."""
        self._discarded = 0
        self._circles: dict[str, frozenset[str]] = {}
        """A chunk that calls itself by way of others -> those others."""
        self._rebound: frozenset[str] | None = None
        self._changing: dict[str, tuple[int, ...]] = {}
        self._telling: dict[str, bool] = {}
        """Function -> whether its result is what its return statements say."""
        self._classes = Classes(outline)

    def line(self, number: int) -> str:
        """A line of the file with its end; numbers count from 1."""
        return self._lines[number - 1]

    def parse(self, qualname: str) -> ParsedChunk:
        """The chunk as libcst sees it, or a sketch of it."""
        if qualname not in self._parsed:
            parse = parse_chunk if qualname in self._exact else sketch_chunk
            self._parsed[qualname] = parse(self.outline.chunks[qualname], self._lines)
        return self._parsed[qualname]

    def is_sketched(self, qualname: str) -> bool:
        """Whether what is known of a chunk comes from a sketch."""
        return qualname not in self._exact

    def parse_exactly(self, chunks: Iterable[str]) -> None:
        """Forget the sketches of these chunks: from now on, libcst parses them."""
        for name in set(chunks) - self._exact:
            self._exact.add(name)
            self._parsed.pop(name, None)
            self.flows.pop(name, None)
            if name == MODULE:
                self._globals = None

    def flow(self, qualname: str) -> Flow | None:
        """The chunk, interpreted; None while that is under way (recursion) or if there is no such chunk."""
        # What was worked out with a draft of somebody who asks now would tell the asker about its own draft.
        if qualname in self.flows and self._circles.get(qualname, frozenset()).isdisjoint(self._under_way):
            return self.flows[qualname]
        if qualname in self._drafts:
            self._rests_on = min(self._rests_on, self._drafts[qualname].rests_on)
            return self._drafts[qualname].flow
        if qualname not in self.outline.chunks:
            return None
        if qualname in self._under_way or len(self._under_way) == _DEEPEST:
            asked = self._under_way.index(qualname) if qualname in self._under_way else 0
            self._rests_on = min(self._rests_on, asked)
            return None
        return self._interpret(qualname, len(self._under_way))

    def _interpret(self, qualname: str, place: int) -> Flow:
        """Interpret a chunk; what rests on one further out that has no result yet is a draft until that has one."""
        outer, self._rests_on = self._rests_on, _DEEPEST
        self._under_way.append(qualname)
        try:
            flow = Flow(self.parse(qualname), self)
            rests_on = self._rests_on
        finally:
            self._under_way.pop()
            self._rests_on = outer
        if rests_on < place and self._discarded < _MOST_DRAFTS:
            self._drafts[qualname] = _Draft(flow, rests_on)
            self._rests_on = min(outer, rests_on)
        else:
            self.flows[qualname] = flow
            self._circles[qualname] = frozenset(name for name, draft in self._drafts.items() if draft.rests_on >= place)
            self._discarded += len(self._circles[qualname])
            for name in self._circles[qualname]:
                del self._drafts[name]
        return flow

    def forget(self) -> None:
        """Let go of every tree. Facts and flows refer to each other, and worker processes run without the collector."""
        self._parsed.clear()
        self.flows.clear()
        self._drafts.clear()
        self._circles.clear()
        self._globals = None
        text_of.cache_clear()

    @property
    def consulted(self) -> Mapping[str, str]:
        """The other files that were looked at or looked for -> the hashes of their bytes."""
        return self._neighbours.consulted if self._neighbours is not None else {}

    # -- globals ----------------------------------------------------------------------------------------------

    def global_value(self, name: str, asking: Chunk) -> Value:
        """What a name that the chunk has not bound stands for: a global, something imported, something built in."""
        if name in self.outline.chunks and "." not in name:
            is_class = name in self.outline.classes
            return Value(Kind.CLASS if is_class else Kind.FUNCTION, name=name)
        imported = self.outline.imports.get(name)
        if asking.name != MODULE and name in self.outline.chunks[MODULE].bound:
            held = self._module_level().final.get(name)
            if held is not None and (held.kind is not Kind.UNKNOWN or held.choices or imported is None):
                return held if name not in self._declared_global() else UNKNOWN
        if imported is not None:
            return self._imported(imported)
        if name in BUILTINS:
            return Value(Kind.REFERENCE, name=name)
        starred = from_star(name, self.outline.stars)
        return Value(Kind.REFERENCE, name=starred) if starred is not None else UNKNOWN

    def _imported(self, dotted: str) -> Value:
        """What an import stands for: a constant of the project by its value, all else by its name."""
        # A constant is written in capitals, as everything in torch is not.
        found = self._ask(dotted, Reach.constant) if dotted.rpartition(".")[2].isupper() else None
        return found if found is not None else Value(Kind.REFERENCE, name=dotted)

    def constant(self, name: str) -> Value | None:
        """What the module's own statements give a name; None for a function or class."""
        return self.global_value(name, _ANYWHERE) if name not in self.outline.chunks else None

    def _ask(self, dotted: str, question: Callable[[Reach, str], Value | None]) -> Value | None:
        return self._neighbours.ask(dotted, question) if self._neighbours is not None and dotted else None

    def _module_level(self) -> Flow:
        """The module's own statements, without what its functions return: those may ask for globals themselves."""
        if self._globals is None:
            self._globals = Flow(self.parse(MODULE), self, follows_calls=False)
        return self._globals

    def _declared_global(self) -> frozenset[str]:
        """Names that some function may assign: nobody can say what the module's own value of them is."""
        if self._rebound is None:
            self._rebound = declared_global("".join(self._lines))
        return self._rebound

    # -- classes ----------------------------------------------------------------------------------------------

    def lineage(self, class_name: str) -> list[str]:
        """A class and the classes above it, as far as they are of this file."""
        return self._classes.lineage(class_name)

    def sets_later(self, class_name: str, attribute: str) -> bool:
        """Whether a method of the class other than __init__ sets the attribute."""
        return self._classes.sets_later(class_name, attribute)

    def attribute_value(self, class_name: str, attribute: str, *, exact: bool = True, abroad: bool = True) -> Value:
        """What an object's attribute holds: set in __init__ (or in the class body) and nowhere else, or a method.

        An object that is not known to be of `exact`ly this class may be of one below it, which sets the attribute anew.
        If not `abroad`, base classes in other files are not looked at.
        """
        found = self._attribute_value(class_name, attribute, abroad=abroad)
        for below in () if exact else self._classes.overriding(class_name, attribute):
            other = self._attribute_value(below, attribute, abroad=abroad)
            found = UNKNOWN if Kind.FUNCTION in {found.kind, other.kind} else join(found, other)
        return found

    def _attribute_value(self, class_name: str, attribute: str, *, abroad: bool) -> Value:
        setter = self._classes.setter(class_name, attribute)
        if setter is not None:
            flow = self.flow(f"{setter}.__init__") if setter else None
            return (flow.final.get(f"{flow.self_name}.{attribute}") if flow is not None else None) or UNKNOWN
        found = self._class_attribute(self.lineage(class_name), attribute)
        return self._inherited(class_name, attribute) if found is UNKNOWN and abroad else found

    def _inherited(self, class_name: str, attribute: str) -> Value:
        """What a base class in another file of the project gives the attribute; a method of it is not followed."""
        for name in self.lineage(class_name):
            for base in self.outline.classes[name].bases:
                dotted = self.outline.imports.get(base.id, "") if isinstance(base, ast.Name) else ""
                found = self._ask(dotted, lambda other, above: other.attribute_of(above, attribute))
                if found is not None:
                    return found
        return UNKNOWN

    def attribute_of(self, class_name: str, attribute: str) -> Value | None:
        """What another file may know of an attribute of a class here; None for a method, or if nothing is known."""
        if class_name not in self.outline.classes:
            return None
        found = self.attribute_value(class_name, attribute)
        return found if found is not UNKNOWN and found.kind is not Kind.FUNCTION else None

    def _class_attribute(self, lineage: list[str], attribute: str) -> Value:
        for name in lineage:
            method = self.outline.chunks.get(f"{name}.{attribute}")
            if method is not None:
                return self._method(f"{name}.{attribute}", method)
            if attribute in self.outline.chunks[name].bound:
                body = self.flow(name)
                return (body.final.get(attribute) if body is not None else None) or UNKNOWN
        return UNKNOWN

    def _method(self, qualname: str, chunk: Chunk) -> Value:
        if not _PROPERTIES.isdisjoint(decorators(chunk)):
            return self.returned_by(qualname) or UNKNOWN
        return Value(Kind.FUNCTION, name=qualname)

    # -- functions --------------------------------------------------------------------------------------------

    def returned_by(self, function: str, call: Call | None = None) -> Value | None:
        """The one value that a function of this file returns to `call`; None if there is none, or several such functions."""
        chunk = self.outline.chunks.get(function)
        if chunk is None or f"{function}#2" in self.outline.chunks or not self._tells_its_result(function, chunk):
            return None
        flow = self.flow(function)
        return as_returned(flow.returned, chunk, call) if flow is not None and flow.returned is not None else None

    def _tells_its_result(self, function: str, chunk: Chunk) -> bool:
        if function not in self._telling:
            may_yield = any("yield" in line for line in self._lines[chunk.first_line - 1 : chunk.last_line])
            self._telling[function] = tells_its_result(chunk, self.outline.chunks, may_yield=may_yield)
        return self._telling[function]

    def parameters_changed_by(self, function: str) -> tuple[int, ...]:
        """The places of the arguments that a function of this file changes in place."""
        if function not in self._changing:
            chunk = self.outline.chunks.get(function)
            self._changing[function] = changed_parameters(chunk) if chunk is not None else ()
        return self._changing[function]

    def returned_by_import(self, dotted: str, call: Call | None = None) -> Value | None:
        """The value that an imported function of the project returns to `call`; None for any other function."""
        return self._ask(
            dotted, lambda other, name: other.returned_by(name, call) if name not in other.outline.classes else None
        )
