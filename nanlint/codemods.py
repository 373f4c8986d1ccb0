"""The fixes as libcst codemods, for teams that run these.

    python -m libcst.tool codemod --no-format -x nanlint.codemods.LogOfSoftmax src/

There is one command for each rule that offers a fix, under the name of its class, and `AllFixes` for all of them. They
apply what `nanlint check --fix` applies; with `--unsafe-fixes` also what changes some results. `nanlint/libcst_tool` is for projects
that name the modules of their codemods in a config, and then need no `-x`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import libcst as cst
from libcst.codemod import CodemodContext, VisitorBasedCodemodCommand

from nanlint.engine.checker import Checker
from nanlint.engine.fixing.fix_paths import Document, fixed
from nanlint.engine.rules.rulebook import rulebook
from nanlint.settings import Settings

if TYPE_CHECKING:
    import argparse

APPLIED = ("Safe", "Unsafe")
"""How the page of a rule begins to tell of a fix that can be applied, and not of a sketch or none."""


class AllFixes(VisitorBasedCodemodCommand):
    """Every fix of the rules that are on by default."""

    DESCRIPTION = "Apply the fixes of all nanlint rules that are on by default."
    CODES: ClassVar[tuple[str, ...]] = ()
    """The rules whose fixes are applied; () for those that are on by default."""

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """The one option that every command has."""
        arg_parser.add_argument("--unsafe-fixes", action="store_true", help="also fixes that change some results")

    def __init__(self, context: CodemodContext, *, unsafe_fixes: bool = False) -> None:
        super().__init__(context)
        self._unsafe = unsafe_fixes

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """The module with its fixes; the same one if there is nothing to fix."""
        path = self.context.filename or "<string>"
        ruleset = Checker(gated=True).ruleset(Settings(select=self.CODES, severity="info"))
        document = Document(path, tree.bytes)
        outcome = fixed(document, ruleset, unsafe=self._unsafe)
        for finding in outcome.withdrawn:
            self.warn(f"line {finding.span.line}: {finding.code} was not fixed: the fix would not hold")
        if not outcome.changed:
            return tree
        return cst.parse_module(outcome.data, config=tree.config_for_parsing)


def commands() -> dict[str, type[AllFixes]]:
    """A command for each shipped rule that offers a fix, by the name of the rule's class."""
    book = rulebook()
    made: dict[str, type[AllFixes]] = {}
    for code, rule in book.rules.items():
        info = book.info(code)
        if info.fix.startswith(APPLIED):
            description = f"{code} {info.name}: {info.summary}"
            made[rule.__name__] = type(
                rule.__name__, (AllFixes,), {"DESCRIPTION": description, "CODES": (code,), "__module__": __name__}
            )
    return made


globals().update(commands())
