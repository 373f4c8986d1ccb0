"""Rules about settings, on a config file or on the configs that Python code states."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from nanlint.analysis.config.settings import Config, config_of
from nanlint.engine.rules.border import findings_of
from nanlint.evidence.levels import graded
from nanlint.source.configs.beside_launcher import is_launcher, trainers_beside
from nanlint.source.configs.entries import read_documents
from nanlint.source.configs.words import speaks_of_settings
from nanlint.source.lines import split_lines

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from nanlint.analysis.config.settings import Setting
    from nanlint.engine.rules.ruleset import Ruleset
    from nanlint.model import FileError, Finding
    from nanlint.source.configs.entries import Document


@dataclass(slots=True)
class Settled:
    """What the rules about settings found, and what kept them from looking."""

    findings: list[Finding] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    has_company: bool = False
    """Whether other files were looked at, so that the result is not this file's alone."""


def check_config_text(text: str, path: str, ruleset: Ruleset) -> Settled:
    """What the rules find in a config file; raises UnreadableSource if that is broken."""
    documents = read_documents(text, path)
    lines = split_lines(text)
    outcome = Settled(has_company=any(is_launcher(document) for document in documents))
    _judge([_config(document, lines, path) for document in documents], path, ruleset, outcome)
    return outcome


def check_python_settings(tree: ast.Module, text: str, path: str, ruleset: Ruleset) -> Settled:
    """What the rules find in the configs that Python code states."""
    from nanlint.analysis.config.python_settings import python_configs  # noqa: PLC0415 - for code that states settings only

    outcome = Settled()
    _judge(python_configs(tree, text, speaks_of_settings), path, ruleset, outcome)
    return outcome


def untold(stated: Sequence[Finding], found: Sequence[Finding], ruleset: Ruleset) -> list[Finding]:
    """The findings about settings less those whose setting another rule, to which theirs yields, names where it is used."""
    return [finding for finding in stated if not any(_tells_of(other, finding, ruleset) for other in found)]


def _tells_of(other: Finding, finding: Finding, ruleset: Ruleset) -> bool:
    name = finding.hazard.operand if finding.hazard is not None else ""
    return bool(name) and other.code in ruleset.rules[finding.code].yields_to and f"`{name}`" in other.message


def _config(document: Document, lines: list[str], path: str) -> Config:
    config = config_of(document, lines)
    if not is_launcher(document):
        return config
    company = [
        setting for name, other, text in trainers_beside(path) for setting in config_of(other, text, file=name).settings
    ]
    return replace(config, company=tuple(company))


def _judge(configs: Sequence[Config], path: str, ruleset: Ruleset, outcome: Settled) -> None:
    """Show every setting to the rules that asked for its key; what is merged into several sections is told once."""
    seen: dict[tuple[object, ...], None] = {}
    for config in configs:
        for setting in config.settings:
            for rule in ruleset.by_setting.get(setting.key, ()):
                for finding in findings_of(
                    rule, partial(rule.check_setting, setting, config), path, partial(_line_of, setting), outcome.errors
                ):
                    key = finding.code, finding.span, finding.message
                    if key not in seen:
                        seen[key] = None
                        outcome.findings.append(finding if rule.severity else graded(finding))


def _line_of(setting: Setting) -> int:
    return setting.span.line
