"""Questions about the code at hand: where an expression stands, what it is called, what becomes of it, how to write it.

The other half of `ModuleFacts`, which answers what is known of values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts import context, naming, rewrite
from nanlint.facts.calls import constructed_with
from nanlint.facts.imports import global_imports
from nanlint.facts.reach import Reach
from nanlint.facts.values import NOTHING, Form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.flow import Flow
    from nanlint.facts.values import Call
    from nanlint.model import Span
    from nanlint.source.outline import Outline
    from nanlint.source.parse import ParsedChunk

# A message quotes at most this much of an expression.
_QUOTED = 60


class CodeQuestions(Reach):
    """One file, and the chunk of it that the questions are about."""

    def __init__(self, text: str, outline: Outline) -> None:
        super().__init__(text, outline)
        self._current = ""
        self._spelled: dict[str, str] | None = None

    def enter(self, qualname: str) -> ParsedChunk:
        """Make `qualname` the chunk that the questions are about."""
        self._current = qualname
        return self.parse(qualname)

    @property
    def here(self) -> Flow | None:
        """The chunk at hand, interpreted."""
        return self.flow(self._current)

    @property
    def current_line(self) -> int:
        """The first line of the chunk at hand."""
        return self.outline.chunks[self._current].first_line

    # -- where it stands --------------------------------------------------------------------------------------

    def parents_of(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around `node`, innermost first, up to the chunk."""
        return context.ancestors(node, self.parse(self._current).parents)

    def is_here(self, node: cst.CSTNode) -> bool:
        """Whether `node` stands in the chunk at hand, and not in a helper or constructor elsewhere."""
        return self.here is not None and node in self.here.values

    def is_within(self, node: cst.CSTNode, whole: cst.CSTNode) -> bool:
        """Whether `node` is `whole` or a part of it."""
        return node is whole or any(around is whole for around in self.parents_of(node))

    def statement_of(self, node: cst.CSTNode) -> cst.CSTNode:
        """The statement that `node` is written in; of a compound one, its header."""
        return context.statement_of(node, self.parse(self._current).parents)

    def are_alternatives(self, first: cst.CSTNode, second: cst.CSTNode) -> bool:
        """Whether the two stand in different branches of one `if`, so that only one of them is run."""
        return context.are_alternatives(first, second, self.parse(self._current).parents)

    def span_of(self, node: cst.CSTNode) -> Span:
        """Where `node` stands in the file."""
        return self.parse(self._current).span_of(node)

    def function_name(self) -> str:
        """The name of the function or method at hand; that of the class or `<module>` outside of one."""
        return self.outline.chunks[self._current].name

    def is_test(self) -> bool:
        """Whether the function at hand is a test, or a method of a test class."""
        chunk = self.outline.chunks[self._current]
        return chunk.name.startswith("test_") or chunk.owner.rpartition(".")[2].startswith("Test")

    def mentions(self, *words: str) -> bool:
        """Whether one of these names or attributes occurs in the chunk at hand."""
        return not self.outline.chunks[self._current].words.isdisjoint(words)

    # -- what becomes of it -----------------------------------------------------------------------------------

    def condition_at(self, node: cst.BaseExpression) -> context.Condition | None:
        """The condition that the truth of `node` decides, directly or through a name; None if it decides none."""
        flow = self.here
        return context.condition_at(node, self.parse(self._current).parents, flow) if flow is not None else None

    def is_used(self, node: cst.BaseExpression) -> bool:
        """Whether anything is done with the value of `node`: no statement of its own, nor a name nobody reads."""
        flow = self.here
        return flow is not None and context.is_used(node, self.parse(self._current).parents, flow)

    # -- what it is called ------------------------------------------------------------------------------------

    def words_of(self, node: cst.BaseExpression) -> tuple[str, ...]:
        """The words of the name that `node` goes by: ("total", "loss") for `self.total_loss.item()`."""
        return naming.words_of(node)

    def comments_at(self, node: cst.CSTNode) -> str:
        """What the comments of the statement around `node` say."""
        return context.comments_at(node, self.parse(self._current).parents)

    def source_of(self, node: cst.CSTNode) -> str:
        """The text of `node` as it is written, without parentheses around it."""
        return self.parse(self._current).source_of(rewrite.bare(node))

    def quote(self, node: cst.CSTNode, longest: int = _QUOTED) -> str:
        """The text of `node` on one line, short enough for a message."""
        text = " ".join(self.source_of(node).split())
        return text if len(text) <= longest else f"{text[: longest - 1]}…"

    # -- how to write it --------------------------------------------------------------------------------------

    def name_for(self, module: str) -> str | None:
        """How code here can spell `module`: `F` after `import torch.nn.functional as F`; None if it can't."""
        if self._spelled is None:
            self._spelled = global_imports(self.outline.tree.body)
        hidden = self.outline.chunks[self._current].bound if self._current in self.outline.chunks else set()
        for local, dotted in self._spelled.items():
            if dotted == module and local not in hidden:
                return local
        parent, _, last = module.rpartition(".")
        spelled = self.name_for(parent) if parent else None
        return f"{spelled}.{last}" if spelled else None

    def spelling_of(self, operation: str) -> str | None:
        """How code here can call a torch operation, such as `F.logsigmoid`; None if it can't."""
        names = [self.name_for(f"{module}.{function}") for module, function in rewrite.spellings(operation)]
        return min((name for name in names if name is not None), key=len, default=None)

    def text_as(self, call: Call, operation: str) -> str | None:
        """The text of `call` with the same operands but of another operation, in the same form; None if there is none.

        An nn.Module that is not written out here becomes a function, with the settings that its constructor was given.
        """
        word = operation.rpartition(".")[2]
        node = rewrite.renamed(call, word)
        if node is not None:
            return self.parse(self._current).source_of(rewrite.bare(node))
        spelled = self.spelling_of(operation)
        if spelled is None or not isinstance(call.node, cst.Call):
            return None
        if call.form is Form.MODULE:
            return self._text_of_module(call, spelled)
        # A bare name, as after `from torch.nn.functional import softmax`.
        if not isinstance(call.node.func, cst.Name):
            return None
        return self.parse(self._current).source_of(
            rewrite.bare(call.node.with_changes(func=cst.parse_expression(spelled)))
        )

    def _text_of_module(self, call: Call, spelled: str) -> str | None:
        if call.subject is None or call.module is None or len(call.arguments) != 1:
            return None
        settings = [f"{name}={value.constant!r}" for name, value in constructed_with(call.module).items()]
        if any(value.constant is NOTHING for value in constructed_with(call.module).values()):
            return None
        return f"{spelled}({', '.join([self.source_of(call.subject), *settings])})"

    def text_in_place_of(
        self, outer: cst.BaseExpression, inner: cst.BaseExpression, base: cst.BaseExpression, text: str
    ) -> str | None:
        """What to write for `outer` so that only `inner` is left of it, with `text` for `base`; None if that is lossy."""
        return rewrite.in_place_of(outer, inner, base, text, self.parse(self._current))

    def negated(self, node: cst.BaseExpression) -> str:
        """The text of `-node`."""
        return rewrite.negated(self.source_of(node), node)

    def on_one_line(self, text: str) -> str | None:
        """An expression's text without line breaks and comments, for a copy of it elsewhere."""
        return rewrite.on_one_line(text)
