"""An operation of a helper as each call of it makes it: with what is passed there, and with what becomes of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanlint.analysis.op_graph import Op
    from nanlint.analysis.project.definitions import CallSite, Function
    from nanlint.analysis.project.whole import FileInProject
    from nanlint.hazards.hazard import Hazard
    from nanlint.hazards.watched import Watched

# Callers of callers of …; and more calls than this are not told apart.
_FURTHEST, _MOST_CALLS = 4, 8


class Called(NamedTuple):
    """The repetitions of one operation, each with the function among whose operations it stands."""

    found: list[tuple[Op, Function]]
    is_complete: bool
    """Every call in the project repeats it."""


class Calls:
    """What the calls in a project repeat of the operations of one file."""

    def __init__(self, file: FileInProject) -> None:
        self._file = file
        self._by_site: dict[CallSite, dict[Op, list[Op]]] = {}
        self._seen: dict[tuple[Function, Function], Function] = {}

    def of(self, op: Op, function: Function) -> Called:
        """The repetitions of an operation; those of a caller give way to those of its own callers where these are all known."""
        found, is_complete = self._of(op, function, _FURTHEST)
        return Called([(copy, self._within(function, caller)) for copy, caller in found], is_complete)

    def _of(self, op: Op, function: Function, depth: int) -> tuple[list[tuple[Op, Function]], bool]:
        sites = function.calls
        if not depth or not sites or len(sites) > _MOST_CALLS:
            return [], False
        found: list[tuple[Op, Function]] = []
        is_complete = True
        for site in sites:
            copies = self._copies(site).get(op, ())
            is_complete &= bool(copies)
            for copy in copies:
                found += self._from(copy, site.op.scope, depth)
        return found, is_complete

    def _from(self, copy: Op, caller: Function | None, depth: int) -> Iterator[tuple[Op, Function]]:
        if caller is None:
            return
        outer, is_complete = self._of(copy, caller, depth - 1)
        if not (is_complete and self._file.knows_callers(caller)):
            yield copy, caller
        yield from outer

    def _copies(self, site: CallSite) -> dict[Op, list[Op]]:
        if site not in self._by_site:
            copies: dict[Op, list[Op]] = {}
            for made in site.made:
                if made.copy_of is not None:
                    copies.setdefault(made.copy_of, []).append(made)
            self._by_site[site] = copies
        return self._by_site[site]

    def _within(self, function: Function, caller: Function) -> Function:
        if (function, caller) not in self._seen:
            self._seen[function, caller] = function.as_called_by(caller)
        return self._seen[function, caller]


class Seen(NamedTuple):
    """One operation that meets a zone: as it is written, and as the calls of its function make it."""

    own: Hazard | None
    called: list[Hazard]
    is_complete: bool
    """Every call in the project is among those looked at."""
    is_decided: bool
    """And nobody else can call it: what no call breaks is safe."""

    @property
    def hazards(self) -> list[Hazard]:
        """All of them."""
        return [*([self.own] if self.own is not None else []), *self.called]


def put_together(found: Iterable[tuple[Watched, Seen]]) -> None:
    """Tell hazards by the same operand, seen from the same function, of each other."""
    together: dict[object, list[Hazard]] = {}
    for each, hazard in ((each, hazard) for each, seen in found for hazard in seen.hazards if not each.always):
        hazard.siblings = together.setdefault((*each[2:], hazard.function, hazard.defect), [])
        hazard.siblings.append(hazard)
