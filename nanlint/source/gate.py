"""Which chunks of a file libcst gets to see: cheapest test first, and never too strict.

The gate knows words, not values. It is built from the words that the selected rules react to (the spellings of their
operations in the op table), so no list is kept by hand. It reports nothing and may only be too generous: a property
test over real packages compares a gated run with an ungated one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanlint.source.fitting import Fitting
from nanlint.source.forms import ASKED_OF_FORMS
from nanlint.source.kinds import ANYTHING, BY_NAME, NUMBER_KINDS, is_number_elsewhere
from nanlint.source.makeup import Telling
from nanlint.source.outline import MODULE
from nanlint.source.references import references, renamed
from nanlint.source.relevance import relevant_names, untelling_in
from nanlint.source.slices import Slices
from nanlint.source.torch_code import has_star_import

if TYPE_CHECKING:
    import ast
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from nanlint.source.outline import Outline
    from nanlint.source.relevance import Untelling
    from nanlint.source.words import Contents

# Whether a byte can be part of a name; the letters outside ASCII can.
_JOINS = [byte > 127 or byte == ord("_") or chr(byte).isalnum() for byte in range(256)]

_ANYTHING = (frozenset[bytes](), frozenset[bytes]())


class Interest(NamedTuple):
    """What one rule needs to find in a chunk before it could fire: one of `words`, and one of `beside` in the file.

    With `beneath`, a word of each of its sets must be behind the operands of one of the operations called `words`.
    """

    words: frozenset[str]
    beside: frozenset[str] = frozenset()
    beneath: tuple[frozenset[str], ...] = ()
    is_about_all: bool = False
    """Whether the rule then looks at the other chunks of the file, too."""
    rule: str = ""
    """Who needs it."""
    along: tuple[frozenset[str], ...] = ()
    """Of each set there is one in the same chunk."""
    unless: frozenset[str] = frozenset()
    """None of these is in the same chunk."""
    not_named: tuple[str, ...] = ()
    """None of these is in the name of the chunk."""
    where: str = ""
    """What must be true of the chunk by its names."""
    made_by: frozenset[str] = frozenset()
    """One of these made an operand."""
    above: frozenset[str] = frozenset()
    """One of these made what is divided."""
    named: frozenset[str] = frozenset()
    """One of these words is in the name that an operand goes by."""
    form: str = ""
    """The form that the operation must have."""
    spread: str = ""
    """Behind which operands the sets of `beneath` are: "one" has all, "another" each, "every" one any; "" for anywhere."""
    but: frozenset[str] = frozenset()
    """Forms of the operation that do not count."""
    is_recorded: bool = False
    """Whether autograd must record what the chunk does."""

    @property
    def of_the_file(self) -> tuple[frozenset[str], ...]:
        """Sets of words of each of which there must be one in the file."""
        return self.beside, *self.beneath, *self.along, self.made_by, self.above

    @property
    def is_about_places(self) -> bool:
        """Whether something is asked of the operations themselves, so that only what they rest on matters."""
        return bool(self.beneath or self.named or self.made_by or self.above or self.form or self.but)


class Gate:
    """The words of all selected rules, as one quick test on bytes and one test on an outline."""

    def __init__(self, interests: Iterable[Interest], through: frozenset[str] = frozenset()) -> None:
        self._through = through
        self._interests = tuple(interest for interest in interests if interest.words)
        self._by_words: dict[frozenset[str], list[tuple[Interest, list[frozenset[str]]]]] = {}
        """Words -> the interests in them, each with the sets of words of which it needs one in the file."""
        for interest in self._interests:
            asked = list(filter(None, interest.of_the_file))
            self._by_words.setdefault(interest.words, []).append((interest, asked))
        self._telling = Telling(
            ASKED_OF_FORMS.union(*(words for interest in self._interests for words in interest.beneath))
        )
        self._quick = {(_in_bytes(interest.words), _in_bytes(interest.beside)) for interest in self._interests}

    def admits(self, data: bytes) -> bool:
        """Whether a rule could fire anywhere in the file."""
        if _ANYTHING in self._quick:
            return True
        return any(
            (not beside or _has_word(data, beside) or has_star_import(data)) and (not words or _has_word(data, words))
            for words, beside in self._quick
        )

    def chunks(self, outline: Outline) -> list[str]:
        """The qualified names of the chunks in which a rule could fire, in reading order."""
        return self.view(outline).chunks

    def view(self, outline: Outline) -> View:
        """What of the file the rules need to see."""
        contents = [chunk.contents for chunk in outline.chunks.values()]
        mentioned = set[str]().union(*[each.words for each in contents])
        imported = [name.rpartition(".")[2] for name in outline.imports.values()]
        numbers = NUMBER_KINDS if any(map(is_number_elsewhere, outline.imports.values())) else ()
        everything = mentioned.union(imported, numbers, BY_NAME, (ANYTHING,))
        is_open = bool(outline.stars)
        interests = {
            words: [each for each, asked in group if is_open or not any(map(everything.isdisjoint, asked))]
            for words, group in self._by_words.items()
            if not everything.isdisjoint(words)
        }
        view = View(outline, Slices(outline, self._through, self._telling))
        view.keep_for(interests, OtherNames(outline, contents, mentioned))
        return view


class View:
    """The part of one file that the rules need to see: some of its chunks, and of each the names that matter there."""

    def __init__(self, outline: Outline, slices: Slices | None = None) -> None:
        self._outline = outline
        self._slices = slices if slices is not None else Slices(outline, frozenset())
        self._rules: dict[str, set[str]] = {}
        """Each kept chunk -> the rules that could fire there."""
        self._whole: set[str] = set()
        """The chunks about which a rule may ask anything."""
        self._roots: dict[str, list[ast.AST]] = {}
        """Each chunk -> the operations that rules look at there."""
        self._is_open = False
        self.chunks: list[str] = []
        self._untelling: Untelling | None = None
        self._relevant: dict[tuple[str, bool], frozenset[str] | None] = {}

    def keep_for(self, interests: Mapping[frozenset[str], Sequence[Interest]], names: OtherNames) -> None:
        """Keep the chunks in which one of `interests`, by their words, may be met."""
        spelled = [(names.of(words), group) for words, group in interests.items() if group]
        asked = frozenset[str]().union(*[words for words, _ in spelled])
        holders = _holders(self._outline, asked)
        fitting = Fitting(self._slices, self._outline, names.of, asked)
        for words, group in spelled:
            holding = {name for word in words & holders.keys() for name in holders[word]}
            for each in group:
                self._is_open = self._is_open or (each.is_about_all and bool(holding))
                for name in holding:
                    if fitting.is_at(name, each):
                        self._keep(name, each, fitting.places(name, words, each) if each.is_about_places else None)
        self.chunks = sorted(self._rules, key=lambda name: (self._outline.chunks[name].first_line, name))

    def _keep(self, chunk: str, interest: Interest, places: list[ast.AST] | None) -> None:
        """Keep a chunk for the operations that are meant; None if an interest is in all of it."""
        if places is None:
            self._whole.add(chunk)
        elif places:
            self._roots.setdefault(chunk, []).extend(places)
        else:
            return
        self._rules.setdefault(chunk, set()).add(interest.rule)

    def rules_at(self, chunk: str) -> Collection[str]:
        """The codes of the rules that could fire in a chunk."""
        return self._rules.get(chunk, ())

    def relevant_names(self, chunk: str, *, results: bool = True) -> frozenset[str] | None:
        """The names in the chunk whose values can matter to a finding; None for all. Its results do if others ask for them."""
        key = chunk, results
        if key not in self._relevant:
            self._relevant[key] = self._find_relevant(chunk, results=results)
        return self._relevant[key]

    def _find_relevant(self, chunk: str, *, results: bool) -> frozenset[str] | None:
        # Whatever a constructor sets is one of its results.
        if (
            self._is_open
            or chunk in self._whole
            or chunk in self._outline.classes
            or chunk.endswith((MODULE, "__init__"))
        ):
            return None
        if self._untelling is None:
            self._untelling = untelling_in(self._outline, self._slices.flows_of(MODULE))
        roots = self._roots.get(chunk, ())
        return relevant_names(self._slices.flows_of(chunk), roots, results=results, untelling=self._untelling)


def _holders(outline: Outline, words: frozenset[str]) -> dict[str, list[str]]:
    """Each of `words` that occurs in the file -> the chunks in which it does."""
    found: dict[str, list[str]] = {}
    for name, chunk in outline.chunks.items():
        for word in words & chunk.contents.words:
            found.setdefault(word, []).append(name)
    return found


def _in_bytes(words: Collection[str]) -> frozenset[bytes]:
    """`words` as they stand in a file; empty, which asks for nothing, with an operator among them: no file lacks those."""
    return frozenset(word.encode() for word in words) if all(word.isidentifier() for word in words) else frozenset()


def _has_word(data: bytes, words: Iterable[bytes]) -> bool:
    """Whether one of `words` occurs, and not as part of a longer one; four times as fast as a regular expression."""
    for word in words:
        start = data.find(word)
        while start >= 0:
            end = start + len(word)
            joined_before = start > 0 and _JOINS[data[start - 1]]
            joined_after = end < len(data) and _JOINS[data[end]]
            if not joined_before and not joined_after:
                return True
            start = data.find(word, end)
    return False


class OtherNames:
    """Local names under which a word can be called: import aliases, `f = torch.log`, `self.act = nn.Sigmoid()`."""

    def __init__(self, outline: Outline, contents: Iterable[Contents], mentioned: set[str]) -> None:
        self._mentioned = mentioned
        self._imported: dict[str, list[str]] = {}
        """A word -> the names under which it is imported."""
        self._given: dict[str, list[str | Sequence[ast.AST]]] = {}
        """A word, or the result of a function (`f()`) -> what it is assigned to, in the chunks that were read."""
        self._unread = [each for each in contents if each.renames]
        self._asked: set[str] = set()
        self._known: dict[frozenset[str], frozenset[str]] = {}
        for local, dotted in outline.imports.items():
            self._imported.setdefault(dotted.rpartition(".")[2], []).append(local)

    def of(self, words: frozenset[str]) -> frozenset[str]:
        """`words` and all other names for them."""
        if words not in self._known:
            self._known[words] = self._find(words)
        return self._known[words]

    def _find(self, words: frozenset[str]) -> frozenset[str]:
        pending = [*(words & self._mentioned), *(words & self._imported.keys())]
        if not pending:
            return words
        found = set(words)
        while pending:
            word = pending.pop()
            for name in self._others(word):
                # What a renamed function returns may be a wanted one too: `make = lambda: nn.Sigmoid()`, then `act = make()`.
                for more in (name, f"{name}()"):
                    if more not in found:
                        found.add(more)
                        pending.append(more)
        return frozenset(found) if len(found) > len(words) else words

    def _others(self, word: str) -> Iterable[str]:
        """The names that are given to what goes by `word`."""
        bare = word.removesuffix("()")
        if bare not in self._asked:
            self._asked.add(bare)
            if bare.isidentifier():
                self._read(bare)
        given = self._given.get(word, ())
        imported = self._imported.get(word, ())
        return [*imported, *(name for targets in given for name in renamed(targets))] if given or imported else ()

    def _read(self, word: str) -> None:
        """Note what is assigned in the chunks that mention a word: in the others it is given no name."""
        given, unread = self._given, []
        for contents in self._unread:
            if word not in contents.words:
                unread.append(contents)
                continue
            for targets, value in contents.renames:
                for source in references(value):
                    if source in given:
                        given[source].append(targets)
                    else:
                        given[source] = [targets]
        self._unread = unread
