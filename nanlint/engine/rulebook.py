"""The rules: where they are, what they are called, and which of them a run uses.

The folder is found from this file's own place: inside the package in a wheel, beside it in a checkout. Nobody imports a
rule by name; ask the rulebook for its code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING

from nanlint.errors import RuleContractError, SettingsError, UsageError
from nanlint.model import RuleInfo, Severity
from nanlint.nearest import did_you_mean
from nanlint.rule import Option, Rule

if TYPE_CHECKING:
    from types import ModuleType

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
        wanted = selector.strip()
        for code, rule in self.rules.items():
            if wanted.upper() == code or wanted.lower() == rule.name:
                return rule
        raise UsageError(f"there is no rule {selector}{did_you_mean(wanted, self._words())}")

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
            url=f"{PAGES}/{code}.md",
            fix=" ".join(rule.section("Fix").split()),
            preview=rule.preview,
        )

    def select(self, settings: Settings) -> list[Rule]:
        """The rules that `settings` ask for, with their options, by code. Wrong selectors are an error."""
        chosen = (*settings.select, *settings.extend_select)
        for key, selectors in (("select", settings.select), ("extend-select", settings.extend_select)):
            self._require(selectors, key, settings)
        self._require(settings.ignore, "ignore", settings)
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
            elif selector.strip().lower() == rule.name:
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
            self._require([selector], "rules", settings)
            rule = self.find(selector)
            where = settings.origin("rules", selector)
            for key, value in given.items():
                if key == "severity":
                    continue
                if key not in rule.options:
                    raise SettingsError(f"{where} {key}: {rule.code} has no such option{did_you_mean(key, rule.options)}")
                if not _fits(value, rule.options[key]):
                    kind = type(rule.options[key]).__name__
                    raise SettingsError(f"{where} {key}: {rule.code} takes a {kind} here, not {value!r}")
            result[rule.code] = {key: value for key, value in given.items() if key != "severity"}
        return result

    def severities(self, settings: Settings) -> dict[str, Severity]:
        """The severities that the user gave to rules, by code."""
        given = {self.find(selector).code: options.get("severity") for selector, options in settings.rules.items()}
        return {code: Severity(severity) for code, severity in given.items() if severity}


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
    for number, folder in enumerate((rules_folder(), *local_folders)):
        package = "nanlint.rules" if number == 0 else f"nanlint_local_rules_{number}"
        for path in _rule_files(folder):
            for rule in _rules_in(_load(path, package), path):
                if rule.code in rules:
                    raise RuleContractError(f"{path}: the code {rule.code} is taken by {sources[rule.code]}; choose another")
                rules[rule.code] = rule
                sources[rule.code] = path
    return Rulebook(dict(sorted(rules.items())), sources)


def _rule_files(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise RuleContractError(f"{folder}: cannot read this folder of rules ({error.strerror})") from None
    return [os.path.join(folder, name) for name in names if name.endswith(".py") and not name.startswith("_")]


def _load(path: str, package: str) -> ModuleType:
    """Import the rule file at `path` as a module of `package`."""
    name = f"{package}.{os.path.basename(path)[:-3]}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RuleContractError(f"{path}: not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # a user's own file may fail in any way
        raise RuleContractError(f"{path}: cannot be imported ({type(error).__name__}: {error})") from error
    return module


def _rules_in(module: ModuleType, path: str) -> list[type[Rule]]:
    found = [
        entry
        for entry in vars(module).values()
        if isinstance(entry, type) and issubclass(entry, Rule) and entry.__module__ == module.__name__
    ]
    if not found:
        raise RuleContractError(f"{path}: holds no rule; a rule is a class that inherits from nanlint.rule.Rule")
    for rule in found:
        for attribute in ("code", "name", "severity"):
            if not hasattr(rule, attribute):
                raise RuleContractError(f"{path}: {rule.__name__} lacks `{attribute}`")
        if not rule.__doc__:
            raise RuleContractError(f"{path}: {rule.__name__} lacks a docstring, which is its page")
    return found
