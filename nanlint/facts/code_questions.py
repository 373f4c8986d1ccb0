"""Questions about the code at hand: where an expression stands, what it is called, what becomes of it, how to write it.

The other half of `ModuleFacts`, which answers what is known of values.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from nanlint.analysis.trained_by_name import (
    is_inference,
    is_test,
    is_test_file,
    is_trained,
    may_train,
    measures,
)
from nanlint.facts import aftermath, context, naming, rewrite
from nanlint.facts import inversion as inversions
from nanlint.facts.calls import operation_settings
from nanlint.facts.changes import changed_by
from nanlint.facts.reach import Reach
from nanlint.facts.relations import same
from nanlint.facts.sections import Sections
from nanlint.facts.tensor_proof import are_surely_tensors
from nanlint.facts.values import Form, Kind
from nanlint.facts.written import text_of
from nanlint.model import Edit, Span
from nanlint.source.file_imports import TORCH, global_imports, line_for_torch
from nanlint.source.outline import MODULE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.facts.flow import Flow
    from nanlint.facts.values import Call
    from nanlint.model import Finding
    from nanlint.source.outline import Outline
    from nanlint.source.parse import ParsedChunk

# A message quotes at most this much of an expression.
_QUOTED = 60
_TORCH = re.compile(r"\btorch\.")
_REMEMBERING = (naming.words_of, naming.thing_of)


class CodeQuestions(Reach):
    """One file, and the chunk of it that the questions are about."""

    def __init__(self, text: str, outline: Outline, path: str = "", *, exact: bool = True) -> None:
        super().__init__(text, outline, path, exact=exact)
        self._is_test_file = is_test_file(path)
        self._measures = measures(path)
        self._current = ""
        self._receivers: list[cst.BaseExpression] = []
        self._looped: dict[str, frozenset[str]] = {}
        self.sections: Sections | None = None
        self._section: Flow | None = None
        self._texts: dict[cst.CSTNode, str] = {}
        self._marks: dict[int, frozenset[object]] = {}
        self._statements: dict[cst.CSTNode, cst.CSTNode] = {}
        self._asked: tuple[Flow, list[tuple[cst.Comparison, cst.BaseExpression]]] | None = None

    def enter(self, qualname: str) -> ParsedChunk:
        """Make `qualname` the chunk that the questions are about."""
        self._current = qualname
        self._start_anew()
        return self.parse(qualname)

    def _start_anew(self) -> None:
        """Forget what was remembered of the chunk that was at hand."""
        self.sections = self._section = self._asked = None
        for remembered in (self._texts, self._marks, self._statements):
            remembered.clear()

    def approach(self, node: cst.CSTNode) -> None:
        """Make what is near `node` that which the questions are about, where the chunk at hand is very long."""
        flow = self.flow(self._current)
        if self.sections is None and flow is not None:
            self.sections = Sections(flow)
        self._section = self.sections.around(node) if self.sections is not None else None

    def forget(self) -> None:
        """Let go of every tree."""
        self._start_anew()
        for remembering in _REMEMBERING:
            remembering.cache_clear()
        super().forget()

    @property
    def here(self) -> Flow | None:
        """The chunk at hand, interpreted; of a very long one, the part that was approached."""
        return self._section if self._section is not None else self.flow(self._current)

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
        if node not in self._statements:
            self._statements[node] = context.statement_of(node, self.parse(self._current).parents)
        return self._statements[node]

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
        """Whether the function at hand is a test or a part of one, or draws something."""
        return self._is_test_file or is_test(self.outline.chunks[self._current])

    def is_done_once(self, node: cst.CSTNode) -> bool:
        """Whether `node` stands in a script outside of any loop: what fails there fails at once."""
        loops = (around for around in self.parents_of(node) if isinstance(around, (cst.For, cst.While)))
        return self.function_name() == MODULE and next(loops, None) is None

    def may_train(self) -> bool:
        """Whether a backward may pass through the code at hand, by its names: not in metrics, schedulers, data sets."""
        return not self.is_test() and may_train(self.outline.chunks[self._current], self.outline)

    def is_inference(self) -> bool:
        """Whether the code at hand uses a trained model, by its names: no backward passes there, and -inf is a score like any."""
        return is_inference(self.outline.chunks[self._current])

    def is_trained(self) -> bool:
        """As `may_train`, and its name says so: the forward of a model, a loss, a distance, the module of a script."""
        return not self.is_test() and is_trained(self.outline.chunks[self._current], self.outline)

    def class_mentions(self, *words: str) -> bool:
        """Whether one of these names or attributes occurs in a method of the class at hand, or here outside of one."""
        owner = self.outline.chunks[self._current].owner
        beside = [chunk for chunk in self.outline.chunks.values() if owner and chunk.owner == owner]
        return self.mentions(*words) or any(chunk.mentions(words) for chunk in beside)

    def mentions(self, *words: str) -> bool:
        """Whether one of these names or attributes occurs in the chunk at hand."""
        return not self.outline.chunks[self._current].words.isdisjoint(words)

    def kept_as(self, call: Call) -> tuple[str, ...]:
        """The words of the name that what `call` makes is kept under: ("train", "loader")."""
        name = context.name_of(self.parents_of(call.node))
        return tuple(name.lower().split("_")) if name else ()

    # -- what becomes of it -----------------------------------------------------------------------------------

    def condition_at(self, node: cst.BaseExpression) -> context.Condition | None:
        """The condition that the truth of `node` decides, directly or through a name; None if it decides none."""
        flow = self.here
        return context.condition_at(node, self.parse(self._current).parents, flow) if flow is not None else None

    def is_used(self, node: cst.BaseExpression) -> bool:
        """Whether anything is done with the value of `node`: no statement of its own, nor a name nobody reads."""
        flow = self.here
        return flow is not None and context.is_used(node, self.parse(self._current).parents, flow)

    def is_mended(self, node: cst.CSTNode) -> bool:
        """Whether what is not finite in `node` is replaced, or asked for, behind it: `where`, `nan_to_num`, `x[mask] = 0`."""
        flow = self.here
        return flow is not None and aftermath.is_mended(node, self.parse(self._current).parents, flow)

    def is_cut_off(self, node: cst.BaseExpression) -> bool:
        """Whether the value of `node` goes on without its gradient: `x.sqrt().item()`, or a name that is only read so."""
        parents, flow = self.parse(self._current).parents, self.here
        if flow is None:
            return context.is_cut_off(node, parents)
        return aftermath.goes_without_gradient(node, parents, flow)

    def changes_its_operand(self, call: Call) -> bool:
        """Whether `call` works in place, or writes into an argument."""
        return bool(changed_by(call))

    # -- what it is called ------------------------------------------------------------------------------------

    def words_of(self, node: cst.BaseExpression) -> tuple[str, ...]:
        """The words of the name that `node` goes by: ("total", "loss") for `self.total_loss.item()`.

        What a loop takes out of something goes by that as well: `v` of `for v in losses`.
        """
        thing = naming.thing_of(node)
        words = naming.words_of(node)
        if not isinstance(thing, cst.Name) or thing.value not in self._loop_names():
            return words
        source = naming.loop_source_of(thing, self.parents_of(node))
        return (*words, *naming.words_of(source)) if source is not None else words

    def _loop_names(self) -> frozenset[str]:
        """The names that loops and comprehensions of the chunk at hand set."""
        if self._current not in self._looped:
            nodes = self.outline.chunks[self._current].contents.nodes
            loops = (node for node in nodes if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)))
            names = (inner for loop in loops for inner in ast.walk(loop.target) if isinstance(inner, ast.Name))
            self._looped[self._current] = frozenset(name.id for name in names)
        return self._looped[self._current]

    def is_same_thing(self, first: cst.BaseExpression, second: cst.BaseExpression) -> bool:
        """Whether two expressions are about one thing: `loss` and `loss.detach().item()`, `p.grad` and `p.grad.sum()`."""
        one, other = naming.thing_of(first), naming.thing_of(second)
        return text_of(one) == text_of(other) or self.is_same(one, other)

    def is_same(self, first: cst.BaseExpression | None, second: cst.BaseExpression | None) -> bool:
        """Whether two expressions of the chunk read the same values."""
        return self.here is not None and same(first, second, self.here)

    def comments_at(self, node: cst.CSTNode) -> str:
        """What the comments of the statement around `node` say."""
        return context.comments_at(node, self.parse(self._current))

    def source_of(self, node: cst.CSTNode) -> str:
        """The text of `node` as it is written, without parentheses around it."""
        if node not in self._texts:
            chunk = self.parse(self._current)
            text = chunk.bare_source_of(node)
            if text is None:
                written, parsed = chunk.exactly(node)
                text = rewrite.code(rewrite.bare(written), written, parsed)
            self._texts[node] = text
        return self._texts[node]

    def quote(self, node: cst.CSTNode, longest: int = _QUOTED) -> str:
        """The text of `node` on one line, short enough for a message."""
        text = self.source_of(node)
        text = " ".join((rewrite.on_one_line(text) or text).split())
        return text if len(text) <= longest else f"{text[: longest - 1]}…"

    # -- how to write it --------------------------------------------------------------------------------------

    @cached_property
    def _imports(self) -> dict[str, str]:
        return global_imports(self.outline.tree.body)

    def name_for(self, module: str) -> str | None:
        """How code here can spell `module`: `F` after `import torch.nn.functional as F`; None if it can't."""
        hidden = self.outline.chunks[self._current].bound if self._current in self.outline.chunks else set()
        for local, dotted in self._imports.items():
            if dotted == module and local not in hidden:
                return local
        if module == TORCH and line_for_torch(self.outline.tree):
            return TORCH
        parent, _, last = module.rpartition(".")
        spelled = self.name_for(parent) if parent else None
        return f"{spelled}.{last}" if spelled else None

    def judged_fixes(self, findings: list[Finding]) -> list[Finding]:
        """The findings of one rule about one call: no fix if it writes a method of tensors on what may be none."""
        written, self._receivers = self._receivers, []
        if not are_surely_tensors(written, self.here, self.outline):
            return [replace(finding, fix=None) for finding in findings]
        return [self._with_import(finding) for finding in findings]

    def _with_import(self, finding: Finding) -> Finding:
        """The finding with a fix that imports torch, if it writes that name where nothing binds it."""
        fix = finding.fix
        if fix is None or not any(_TORCH.search(edit.text) for edit in fix.edits):
            return finding
        line = line_for_torch(self.outline.tree)
        if not line:
            return finding
        added = Edit(Span(line, 1, line, 1), f"import {TORCH}\n")
        return replace(finding, fix=replace(fix, edits=(added, *fix.edits)))

    def spelling_of(self, operation: str) -> str | None:
        """How code here can call a torch operation, such as `F.logsigmoid`; None if it can't."""
        names = [self.name_for(f"{module}.{function}") for module, function in rewrite.spellings(operation)]
        return min((name for name in names if name is not None), key=len, default=None)

    def text_as(self, call: Call, operation: str, **operands: str) -> str | None:
        """The text of `call` as a call of another operation, in the same form, with new text for some operands.

        An nn.Module becomes a function with the settings that its constructor was given. None where that can't be told.
        """
        node = rewrite.renamed(call, operation.rpartition(".")[2]) if self._is_spelled_out(call) else None
        if node is None and call.form is Form.MODULE:
            return self._text_of_module(call, operation)
        if node is None and isinstance(call.node, cst.Call) and isinstance(call.node.func, cst.Name):
            # A bare name, as after `from torch.nn.functional import softmax`.
            spelled = self.spelling_of(operation)
            node = call.node.with_changes(func=cst.parse_expression(spelled)) if spelled is not None else None
        # Beside `*args` and `**kwargs` nobody knows which argument is which.
        if node is None or not operands.keys() <= call.arguments.keys():
            return None
        changed: cst.CSTNode = rewrite.bare(node)
        for name, text in operands.items():
            changed = rewrite.with_text(changed, call.arguments[name], text)
        return rewrite.code(changed, call.node, self.parse(self._current))

    def _is_spelled_out(self, call: Call) -> bool:
        """Whether a function is written as an attribute of torch's module, not as one of `self` that holds it."""
        function = call.node.func if isinstance(call.node, cst.Call) else None
        if call.form is not Form.FUNCTION or not isinstance(function, cst.Attribute) or self.here is None:
            return True
        module = self.here.values.get(function.value)
        return module is not None and module.kind is Kind.REFERENCE

    def _text_of_module(self, call: Call, operation: str) -> str | None:
        spelled = self.spelling_of(operation)
        settings = operation_settings(call.module) if call.module is not None else None
        if spelled is None or settings is None or call.subject is None or len(call.arguments) != 1:
            return None
        stated = [f"{name}={value!r}" for name, value in settings.items()]
        return f"{spelled}({', '.join([self.source_of(call.subject), *stated])})"

    def as_receiver(self, node: cst.BaseExpression) -> str:
        """The text of `node` as `.method()` can follow it: in brackets where it is no name or call."""
        self._receivers.append(node)
        return rewrite.as_receiver(self.source_of(node), node)

    def has_stars(self, call: Call) -> bool:
        """Whether not all arguments are written out: `f(*args, **kwargs)`."""
        return isinstance(call.node, cst.Call) and any(arg.star for arg in call.node.args)

    def add_keyword(self, call: Call, keyword: str, text: str) -> Edit | None:
        """Give the call a further argument; None for what is no call in brackets."""
        if not isinstance(call.node, cst.Call):
            return None
        whole, args = self.span_of(call.node), call.node.args
        if args and not args[-1].value.lpar and not args[-1].star:
            last = self.span_of(args[-1].value)
            return Edit(last.behind, f", {keyword}={text}")
        comma = ", " if args and not isinstance(args[-1].comma, cst.Comma) else ""
        bracket = replace(whole.behind, column=whole.end_column - 1, end_column=whole.end_column - 1)
        return Edit(bracket, f"{comma}{keyword}={text}")

    def on_one_line(self, text: str) -> str | None:
        """An expression's text without line breaks and comments, for a copy of it elsewhere."""
        return rewrite.on_one_line(text)

    def inverted_test(self, call: Call, opposite: str) -> Edit | None:
        """Write the test `call` as the denial of `opposite`, the dotted name of a test that holds where it does not."""
        node = self._respelled(call, opposite)
        if node is None or not isinstance(call.node, cst.Call):
            return None
        parsed = self.parse(self._current)
        is_bool = opposite.startswith("math.")
        inversion = inversions.inverted(call.node, node, parsed.parents, is_bool=is_bool)
        if inversion is None:
            return None
        return Edit(parsed.span_of(inversion.node), rewrite.code(inversion.new, call.node, parsed))

    def _respelled(self, call: Call, dotted: str) -> cst.Call | None:
        """The call with another function: `math.isfinite(x)` for `math.isnan(x)`, `x.isfinite()` for `x.isnan()`."""
        node = call.node
        if not isinstance(node, cst.Call):
            return None
        word = dotted.rpartition(".")[2]
        if isinstance(node.func, cst.Attribute):
            return node.with_changes(func=node.func.with_changes(attr=cst.Name(word)))
        spelled = self.name_for(dotted)
        return node.with_changes(func=cst.parse_expression(spelled)) if spelled is not None else None

    def comparison_of(self, node: cst.Comparison) -> context.Compared | None:
        """The two sides and the sign of a comparison; None for a chain of them."""
        return context.compared(node)

    def is_condition(self, node: cst.BaseExpression) -> bool:
        """Whether nothing but the truth of `node` counts where it stands."""
        return inversions.is_condition(node, self.parse(self._current).parents)
