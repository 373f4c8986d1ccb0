"""The rules: where they are, what they are called, and which of them a run uses.

The folder is found from this file's own place: inside the package in a wheel, beside it in a checkout. Nobody imports a
rule by name; ask the rulebook for its code.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH112, PTH118, PTH120

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

from nanlint.engine.rule_files import rules_in_folder
from nanlint.errors import RuleContractError, SettingsError, UsageError
from nanlint.model import RuleInfo, Severity
from nanlint.nearest import did_you_mean
from nanlint.settings.paths import shown_path

if TYPE_CHECKING:
    from nanlint.rule import Option, Rule
    from nanlint.settings import Settings

PAGES = "https://github.com/nanlint/nanlint/blob/main/docs/rules"
"""Where the rule pages are published; the one place that knows the address."""

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_EVERYTHING = "ALL"


def rules_folder() -> str:
    """The folder of the shipped rules: of this installation or this checkout, never of another one."""
    inside = os.path.join(_PACKAGE, "rules")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(_PACKAGE), "rules")


@dataclass(frozen=True)
class Rulebook:
    """All rules by code."""

    rules: Mapping[str, type[Rule]]
    sources: Mapping[str, str] = field(default_factory=dict)
    """Code -> the file that the rule was read from."""

    @property
    def names(self) -> dict[str, str]:
        """Code -> name, for every rule."""
        return {code: rule.name for code, rule in self.rules.items()}

    def find(self, selector: str) -> type[Rule]:
        """The one rule with this code or name; a near miss is told in the error."""
        for code, rule in self.rules.items():
            if selector.strip().upper() == code or _as_name(selector) == rule.name:
                return rule
        raise UsageError(f"there is no rule {selector}{did_you_mean(selector.strip(), self._words())}")

    def info(self, code: str) -> RuleInfo:
        """A rule as its readers know it."""
        from inspect import cleandoc  # noqa: PLC0415 - costs 10 ms, and a clean run asks for no docs

        rule = self.rules[code]
        docs = cleandoc(rule.__doc__ or "")
        return RuleInfo(
            code=code,
            name=rule.name,
            severity=rule.severity,
            summary=docs.partition("\n")[0],
            why=" ".join(rule.section("Why it hurts").split()),
            docs=docs,
            # A user's own rule has no page of ours.
            url=f"{PAGES}/{code}.md" if os.path.dirname(self.sources[code]) == rules_folder() else "",
            fix=" ".join(rule.section("Fix").split()),
            preview=rule.preview,
        )

    def select(self, settings: Settings) -> list[Rule]:
        """The rules that `settings` ask for, with their options, by code. Wrong selectors are an error."""
        chosen = (*settings.select, *settings.extend_select)
        for key, selectors in (("select", settings.select), ("extend-select", settings.extend_select)):
            self._require(selectors, key, settings)
        self._require(settings.ignore, "ignore", settings)
        for selectors in settings.per_file_ignores.values():
            self._require(selectors, "per-file-ignores", settings)
        options = self._options(settings)
        selected = []
        for code, rule in self.rules.items():
            wanted = self._specificity(rule, chosen) if settings.select else max(self._specificity(rule, chosen), 1)
            # A more specific selector wins, as ruff's users expect: --ignore NAN1 --select NAN101 runs NAN101.
            if wanted <= self._specificity(rule, settings.ignore):
                continue
            if rule.preview and not settings.preview and wanted < len(code):
                continue
            selected.append(rule(options.get(code)))
        return selected

    def codes(self, selectors: Iterable[str]) -> frozenset[str]:
        """The codes that any of `selectors` (code, prefix, name or ALL) means."""
        wanted = tuple(selectors)
        return frozenset(code for code, rule in self.rules.items() if wanted and self._specificity(rule, wanted))

    def _specificity(self, rule: type[Rule], selectors: Sequence[str]) -> int:
        """How closely the closest of `selectors` names `rule`: 0 not at all, the length of a code for its own."""
        closest = 0
        for selector in selectors:
            upper = selector.strip().upper()
            if upper == _EVERYTHING:
                closest = max(closest, 1)
            elif upper and rule.code.startswith(upper):
                closest = max(closest, len(upper))
            elif _as_name(selector) == rule.name:
                closest = max(closest, len(rule.code))
        return closest

    def _require(self, selectors: Sequence[str], key: str, settings: Settings) -> None:
        for selector in selectors:
            if selector.strip().upper() != _EVERYTHING and not self.codes([selector]):
                where = settings.origin(key.replace("-", "_"), selector)
                raise SettingsError(f"{where}: there is no rule {selector}{did_you_mean(selector, self._words())}")

    def _words(self) -> list[str]:
        return [*self.rules, *self.names.values()]

    def _options(self, settings: Settings) -> dict[str, dict[str, Option]]:
        """The options of each rule by code, checked against what the rule declares."""
        result: dict[str, dict[str, Option]] = {}
        for selector, given in settings.rules.items():
            try:
                rule = self.find(selector)
            except UsageError as error:
                raise SettingsError(f"{settings.origin('rules', selector)}: {error}") from None
            options = {key: value for key, value in given.items() if key != "severity"}
            for key, value in options.items():
                problem = _problem(rule, key, value)
                if problem:
                    raise SettingsError(f"{settings.origin(f'rules.{selector}', key)}: {problem}")
            result.setdefault(rule.code, {}).update(options)
        return result

    def severities(self, settings: Settings) -> dict[str, Severity]:
        """The severities that the user gave to rules, by code."""
        given = {self.find(selector).code: options.get("severity") for selector, options in settings.rules.items()}
        return {code: Severity(severity) for code, severity in given.items() if severity}


def _as_name(selector: str) -> str:
    return selector.strip().lower().replace("_", "-")


def _problem(rule: type[Rule], key: str, value: object) -> str:
    """What is wrong with an option; nothing if it is right."""
    if key not in rule.options:
        others = f"; it has {', '.join(rule.options)}" if rule.options else "; it has none"
        return f"{rule.code} has no such option{did_you_mean(key, rule.options) or others}"
    if not _fits(value, rule.options[key]):
        return f"{rule.code} takes {_KINDS[type(rule.options[key])]} here, not {value!r}"
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
    rules: dict[str, type[Rule]] = {}
    sources: dict[str, str] = {}
    for folder in (rules_folder(), *local_folders):
        package = (
            "nanlint.rules" if folder == rules_folder() else f"nanlint_local_rules_{crc32(os.fsencode(folder)):08x}"
        )
        for rule, path in rules_in_folder(folder, package):
            for taken, source in (
                (rule.code, sources.get(rule.code)),
                (rule.name, _source_of(rule.name, rules, sources)),
            ):
                if source is not None:
                    raise RuleContractError(
                        f"{shown_path(path)}: {taken} is taken by {shown_path(source)}; choose another"
                    )
            rules[rule.code] = rule
            sources[rule.code] = path
    return Rulebook(dict(sorted(rules.items())), sources)


def _source_of(name: str, rules: Mapping[str, type[Rule]], sources: Mapping[str, str]) -> str | None:
    return next((sources[code] for code, rule in rules.items() if rule.name == name), None)


class RuleInfos(Mapping[str, RuleInfo]):
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
            self._known = {code: book.info(code) for book in books for code in self._codes if code in book.rules}
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
