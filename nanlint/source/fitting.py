"""Which of the operations that a rule looks for can be what it is about: by the chunk, by their operands, by their form."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from nanlint.source.below import all_below
from nanlint.source.flows import MANIFOLD, operations_in
from nanlint.source.forms import DEAR, Forms
from nanlint.source.makeup import operands_of
from nanlint.source.measures import words_in
from nanlint.source.origins import Origins
from nanlint.source.recording import is_recorded
from nanlint.source.references import last_word
from nanlint.source.training_code import is_of_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from nanlint.source.gate import Interest
    from nanlint.source.outline import Outline
    from nanlint.source.slices import Slices

_Words = frozenset[str]

# In generated code with more operations than this, looking behind each of them costs more than libcst would.
MOST_PLACES = 300
ONE, EVERY = "one", "every"


class Fitting:
    """The narrower tests of interests, on one file."""

    def __init__(
        self, slices: Slices, outline: Outline, other_names: Callable[[_Words], _Words], asked: _Words
    ) -> None:
        self._slices = slices
        self._outline = outline
        self._called = asked | MANIFOLD
        """The words of all operations that somebody asks for, and of those that may be one of them."""
        self._operations: dict[str, dict[str, list[ast.AST]]] = {}
        self._origins = Origins(slices)
        self._forms = Forms(slices)
        self._other_names = other_names
        self._kinds: dict[tuple[str, str], bool] = {}
        self._written: dict[ast.AST, set[str]] = {}
        """Each operation -> the words of the names in its operands."""

    def is_at(self, name: str, interest: Interest) -> bool:
        """Whether what the interest asks of the chunk called `name` as a whole is true of it."""
        chunk = self._outline.chunks[name]
        words = chunk.contents.words
        if not interest.unless.isdisjoint(words):
            return False
        for each in interest.along:
            if words.isdisjoint(each) and words.isdisjoint(self._other_names(each)):
                return False
        for part in interest.not_named:
            if part in chunk.name:
                return False
        if interest.where:
            key = name, interest.where
            if key not in self._kinds:
                self._kinds[key] = is_of_kind(interest.where, chunk, self._outline)
            if not self._kinds[key]:
                return False
        return not interest.is_recorded or is_recorded(chunk, self._outline)

    def places(self, name: str, words: _Words, interest: Interest) -> list[ast.AST]:
        """Each operation of the chunk called `name` that the interest is about; what costs the most is asked last."""
        found = self._operations_called(name, words)
        if not found:
            return found
        are_few = len(found) <= MOST_PLACES
        self._slices.begin(name)
        cheap, dear = _by_cost(interest.form, interest.but)
        if are_few and (cheap or interest.named):
            found = [place for place in found if self._is_meant(name, interest, cheap, place)]
        if are_few and interest.beneath:
            found = [place for place in found if self._slices.may_hold(name, place, interest.beneath)]
        if found and (interest.made_by or interest.above or interest.spread):
            found = [place for place in found if self._fits(name, place, interest)]
        return [place for place in found if self._is_meant(name, interest, dear, place)] if dear else found

    def _operations_called(self, name: str, words: _Words) -> list[ast.AST]:
        """Each operation in the chunk called `name` that goes by one of `words`."""
        if name not in self._operations:
            self._operations[name] = operations_in(self._slices.nodes_of(name), self._called)
        known = self._operations[name]
        return [place for word in known if word in words for place in known[word]]

    def _is_meant(self, name: str, interest: Interest, forms: Collection[str], place: ast.AST) -> bool:
        """Whether the operation has, of these forms, that which it must have and none of those that it must not have."""
        if interest.named and interest.named.isdisjoint(self._words_written(name, place)):
            return False
        try:
            for form in forms:
                if self._forms.has(form, name, place) is not (form == interest.form):
                    return False
        except RecursionError:
            return True
        return True

    def _fits(self, name: str, place: ast.AST, interest: Interest) -> bool:
        try:
            return (
                self._are_made_by(name, operands_of(place), interest.made_by)
                and self._are_made_by(name, _divided(place), interest.above)
                and self._are_spread(name, place, interest)
            )
        except RecursionError:
            return True

    def _words_written(self, name: str, place: ast.AST) -> set[str]:
        """The words of all names in the operands; what a loop takes out of something goes by that as well."""
        if place in self._written:
            return self._written[place]
        words = self._written[place] = set()
        for operand in operands_of(place):
            for inner in all_below(operand):
                words |= words_in(_written(inner))
                if isinstance(inner, ast.Name):
                    sources = self._slices.loop_sources(name).get(inner.id, ())
                    words |= {
                        word for source in sources for each in all_below(source) for word in words_in(_written(each))
                    }
        return words

    def _are_made_by(self, name: str, operands: Sequence[ast.AST], makers: _Words) -> bool:
        if not makers:
            return True
        made = self._origins.of(name, operands)
        return not made.isdisjoint(makers) or not made.isdisjoint(self._other_names(makers))

    def _are_spread(self, name: str, place: ast.AST, interest: Interest) -> bool:
        """Whether the words are behind the right operands; of a call, nobody knows here which they are."""
        if not interest.spread or (interest.spread != ONE and isinstance(place, ast.Call)):
            return True
        operands = self._slices.words_of_each(name, place)
        holders = [
            {number for number, words in enumerate(operands) if not words.isdisjoint(wanted)}
            for wanted in interest.beneath
        ]
        if interest.spread == ONE:
            return bool(set.intersection(*holders))
        if interest.spread == EVERY:
            return all(len(each) == len(operands) for each in holders)
        return len(holders[0] | holders[-1]) > 1


@lru_cache(maxsize=1024)
def _by_cost(form: str, but: frozenset[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The forms that an interest asks for, those apart that are told by more than a few names."""
    forms = (but | {form}) - {""}
    return sorted(forms - DEAR), sorted(forms & DEAR)


def _divided(place: ast.AST) -> Sequence[ast.AST]:
    """What a division divides; of a call, nobody knows here which of its operands that is."""
    if isinstance(place, ast.BinOp):
        return [place.left]
    return [place.target] if isinstance(place, ast.AugAssign) else operands_of(place)


def _written(node: ast.AST) -> str:
    """A name, an attribute or a text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return last_word(node)
