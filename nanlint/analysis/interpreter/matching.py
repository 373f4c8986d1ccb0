"""`match`: what its patterns bind and tell."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.interpreter.definitions import InnerDefinitions
from nanlint.analysis.op_graph import CALL
from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from nanlint.analysis.interpreter.environment import Env
    from nanlint.analysis.op_graph import Value


class Matching(InnerDefinitions):
    """Interprets `match`."""

    def match(self, node: ast.Match) -> bool:
        """Each case is one path; without a case for the rest, so is none of them."""
        subject = self.evaluate(node.subject)
        rest, ends = self.env, []
        is_complete = False
        for case in node.cases:
            self.env = rest.copy()
            self._bind_pattern(case.pattern, subject, node.subject)
            if case.guard is not None:
                self.env = self.env.under(self.evaluate(case.guard), holds=True)
            if self.run_body(case.body):
                ends.append(self.env)
            is_complete = is_complete or (case.guard is None and _takes_anything(case.pattern))
        return self.paths_meet(ends if is_complete else [*ends, rest], node)

    def _bind_pattern(self, pattern: ast.pattern, subject: Value, node: ast.expr) -> None:
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
            if pattern.name is not None:
                self.env.names[pattern.name] = subject
            return
        if isinstance(pattern, ast.MatchValue):
            operands = {"input": subject, "other": self.evaluate(pattern.value)}
            self.env = self.env.under(self.maker.make("torch.eq", operands, node, self.function), holds=True)
            return
        for each in walk(pattern):
            name = getattr(each, "name", None) or getattr(each, "rest", None)
            if isinstance(name, str):
                self.env.names[name] = self.maker.unknown(CALL, name, each, self.function)

    def paths_meet(self, ends: list[Env], node: ast.AST) -> bool:
        """Go on with what holds at the end of every path; False if none of them ends here."""
        raise NotImplementedError


def _takes_anything(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None
