"""The rules: where they are, what they are called, and which of them a run uses.

The folder is found from this file's own place: inside the package in a wheel, beside it in a checkout. Nobody imports a
rule by name; ask the rulebook for its code.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH112, PTH118, PTH120

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from nanlint import model
from nanlint.engine.rules.cards import cards_of, ready_cards
from nanlint.errors import RuleContractError, SettingsError, UsageError
from nanlint.nearest import did_you_mean
from nanlint.settings.paths import shown_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from nanlint.engine.rules.cards import RuleCard
    from nanlint.model import RuleInfo, Severity
    from nanlint.rule import Option, Rule
    from nanlint.settings import Settings

PAGES = "https://github.com/nanlint/nanlint/blob/main/docs/rules"
"""Where the rule pages are published; the one place that knows the address."""

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_EVERYTHING = "ALL"


def rules_folder() -> str:
    """The folder of the shipped rules: of this installation or this checkout, never of another one."""
    inside = os.path.join(_PACKAGE, "rules")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(_PACKAGE), "rules")


class Selection(NamedTuple):
    """The rules that some settings ask for, and what they say about them."""

    book: Rulebook
    cards: Sequence[RuleCard]
    options: Mapping[str, Mapping[str, Option]]
    """Code -> the options that the user set."""
    severities: Mapping[str, Severity]
    """Code -> the severity that the user gave to the rule."""

    def without(self, codes: Collection[str]) -> Selection:
        """The same rules less those with `codes`."""
        return self._replace(cards=[card for card in self.cards if card.code not in codes])

    def load(self) -> list[Rule]:
        """The rules themselves, with their options."""
        return [self.book.rules[card.code](self.options.get(card.code)) for card in self.cards]


class Rulebook:
    """The shipped rules and those of the user's own folders. A rule is loaded when more than its card is asked for."""

    def __init__(self, local_folders: tuple[str, ...] = ()) -> None:
        self._local_folders = local_folders

    @cached_property
    def _loaded(self) -> Mapping[str, tuple[type[Rule], str]]:
        return dict(sorted(_load(self._local_folders).items()))

    @cached_property
    def rules(self) -> Mapping[str, type[Rule]]:
        """All rules by code."""
        return {code: rule for code, (rule, _) in self._loaded.items()}

    @property
    def sources(self) -> Mapping[str, str]:
        """Code -> the file that the rule was read from."""
        return {code: path for code, (_, path) in self._loaded.items()}

    @cached_property
    def cards(self) -> Mapping[str, RuleCard]:
        """All cards by code."""
        ready = None if self._local_folders else ready_cards(rules_folder())
        return ready or cards_of(self.rules.values())

    @property
    def names(self) -> dict[str, str]:
        """Code -> name, for every rule."""
        return {code: card.name for code, card in self.cards.items()}

    def find(self, selector: str) -> RuleCard:
        """The one rule with this code or name; a near miss is told in the error."""
        for card in self.cards.values():
            if self._is_called(card, selector):
                return card
        raise UsageError(f"there is no rule {selector}{did_you_mean(selector.strip(), self._words())}")

    @staticmethod
    def _is_called(card: RuleCard, selector: str) -> bool:
        return selector.strip().upper() == card.code or _as_name(selector) == card.name

    def info(self, code: str) -> RuleInfo:
        """A rule as its readers know it."""
        from inspect import cleandoc  # noqa: PLC0415 - costs 10 ms, and a clean run asks for no docs

        from nanlint.evidence.levels import level  # noqa: PLC0415 - as above

        rule = self.rules[code]
        docs = cleandoc(rule.__doc__ or "")
        return model.RuleInfo(
            code=code,
            name=rule.name,
            severity=rule.severity or level(code, frozenset(item.name for item in rule.evidence)),
            summary=docs.partition("\n")[0],
            why=" ".join(rule.section("Why it hurts").split()),
            docs=docs,
            # A user's own rule has no page of ours.
            url=f"{PAGES}/{code}.md" if os.path.dirname(self.sources[code]) == rules_folder() else "",
            fix=" ".join(rule.section("Fix").split()),
            preview=rule.preview,
        )

    def select(self, settings: Settings) -> Selection:
        """The rules that `settings` ask for, by code. Wrong selectors and options are an error."""
        chosen = (*settings.select, *settings.extend_select)
        for key, selectors in (("select", settings.select), ("extend-select", settings.extend_select)):
            self._require(selectors, key, settings)
        self._require(settings.ignore, "ignore", settings)
        for selectors in settings.per_file_ignores.values():
            self._require(selectors, "per-file-ignores", settings)
        options = self._options(settings)
        selected = []
        for code, card in self.cards.items():
            wanted = self._specificity(card, chosen) if settings.select else max(self._specificity(card, chosen), 1)
            # A more specific selector wins, as ruff's users expect: --ignore NAN1 --select NAN101 runs NAN101.
            if wanted <= self._specificity(card, settings.ignore):
                continue
            if card.preview and not settings.preview and wanted < len(code):
                continue
            selected.append(card)
        return Selection(self, selected, options, self._severities(settings))

    def codes(self, selectors: Iterable[str]) -> frozenset[str]:
        """The codes that any of `selectors` (code, prefix, name or ALL) means."""
        wanted = tuple(selectors)
        return frozenset(code for code, card in self.cards.items() if wanted and self._specificity(card, wanted))

    def _specificity(self, card: RuleCard, selectors: Sequence[str]) -> int:
        """How closely the closest of `selectors` names a rule: 0 not at all, the length of a code for its own."""
        closest = 0
        for selector in selectors:
            upper = selector.strip().upper()
            if upper == _EVERYTHING:
                closest = max(closest, 1)
            elif upper and card.code.startswith(upper):
                closest = max(closest, len(upper))
            elif _as_name(selector) == card.name:
                closest = max(closest, len(card.code))
        return closest

    def _require(self, selectors: Sequence[str], key: str, settings: Settings) -> None:
        for selector in selectors:
            if selector.strip().upper() != _EVERYTHING and not self.codes([selector]):
                where = settings.origin(key.replace("-", "_"), selector)
                if settings.left_out_rules and not where.startswith("--"):
                    continue  # it may well mean one of the rules that do not run
                raise SettingsError(f"{where}: there is no rule {selector}{did_you_mean(selector, self._words())}")

    def _words(self) -> list[str]:
        return [*self.cards, *self.names.values()]

    def _options(self, settings: Settings) -> dict[str, dict[str, Option]]:
        """The options of each rule by code, checked against what the rule declares."""
        result: dict[str, dict[str, Option]] = {}
        for selector, given in settings.rules.items():
            try:
                card = self.find(selector)
            except UsageError as error:
                if settings.left_out_rules:
                    continue
                raise SettingsError(f"{settings.origin('rules', selector)}: {error}") from None
            options = {key: value for key, value in given.items() if key != "severity"}
            for key, value in options.items():
                problem = _problem(card, key, value)
                if problem:
                    raise SettingsError(f"{settings.origin(f'rules.{selector}', key)}: {problem}")
            result.setdefault(card.code, {}).update(options)
        return result

    def _severities(self, settings: Settings) -> dict[str, Severity]:
        """The severities that the user gave to rules, by code."""
        return {
            card.code: model.Severity(options["severity"])
            for selector, options in settings.rules.items()
            for card in self.cards.values()
            if options.get("severity") and self._is_called(card, selector)
        }


def _as_name(selector: str) -> str:
    return selector.strip().lower().replace("_", "-")


def _problem(card: RuleCard, key: str, value: object) -> str:
    """What is wrong with an option; nothing if it is right."""
    if key not in card.options:
        others = f"; it has {', '.join(card.options)}" if card.options else "; it has none"
        return f"{card.code} has no such option{did_you_mean(key, card.options) or others}"
    if not _fits(value, card.options[key]):
        return f"{card.code} takes {_KINDS[type(card.options[key])]} here, not {value!r}"
    return ""


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _fits(value: object, default: Option) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float))
    return isinstance(value, type(default))


@cache
def rulebook(local_folders: tuple[str, ...] = ()) -> Rulebook:
    """The shipped rules and those of the user's own folders."""
    return Rulebook(local_folders)


def _load(local_folders: tuple[str, ...]) -> dict[str, tuple[type[Rule], str]]:
    """Every rule by code, with the file it was read from; no code and no name may be taken twice."""
    from zlib import crc32  # noqa: PLC0415 - a run in which no rule can fire loads none

    from nanlint.engine.rules.files import rules_in_folder  # noqa: PLC0415 - same

    loaded: dict[str, tuple[type[Rule], str]] = {}
    by_word: dict[str, str] = {}
    for folder in (rules_folder(), *local_folders):
        package = (
            "nanlint.rules" if folder == rules_folder() else f"nanlint_local_rules_{crc32(os.fsencode(folder)):08x}"
        )
        for rule, path in rules_in_folder(folder, package):
            for word in (rule.code, rule.name):
                if word in by_word:
                    taken_by = shown_path(by_word[word])
                    raise RuleContractError(f"{shown_path(path)}: {word} is taken by {taken_by}; choose another")
            loaded[rule.code] = rule, path
            by_word |= {rule.code: path, rule.name: path}
    return loaded


class RuleInfos(Mapping[str, "RuleInfo"]):
    """What readers may want to know about the rules behind findings; the rules are loaded when one is asked for.

    A warm run that prints plain lines asks for none.
    """

    def __init__(self, codes: Sequence[str], local_folders: Iterable[tuple[str, ...]]) -> None:
        self._codes = codes
        self._local_folders = sorted(local_folders)
        self._known: dict[str, RuleInfo] | None = None

    def _infos(self) -> dict[str, RuleInfo]:
        if self._known is None:
            books = [rulebook(folders) for folders in self._local_folders] if self._codes else []
            self._known = {code: book.info(code) for book in books for code in self._codes if code in book.cards}
        return self._known

    def __getitem__(self, code: str) -> RuleInfo:
        """The info of one rule."""
        return self._infos()[code]

    def __iter__(self) -> Iterator[str]:
        """The codes, in order."""
        return iter(sorted(self._infos()))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._infos())
