"""The contract: all that a rule may import.

A rule is one class in one file. It declares the operations it reacts to, asks facts about them, and yields findings. It
keeps no state, walks no tree and reads no settings; its options are declared below and arrive with their values. Importing this module is
cheap: libcst comes in when a chunk is walked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from nanlint.model import Applicability, Direction, Edit, Finding, Fix, Hazard, Severity, Span
from nanlint.source.telling_names import DATA, RATES, VANISHING

if TYPE_CHECKING:
    import libcst as cst

    from nanlint.facts.by_hand import ByHand
    from nanlint.facts.config import Config, Setting
    from nanlint.facts.loop_events import Event
    from nanlint.facts.loop_paths import Decision, Path
    from nanlint.facts.masks import Filling
    from nanlint.facts.module_facts import ModuleFacts as Facts
    from nanlint.facts.selections import Selection
    from nanlint.facts.training_loop import TrainingLoop
    from nanlint.facts.values import Call, Form, Value

    Node = cst.CSTNode
    Expression = cst.BaseExpression
    Comparison = cst.Comparison
else:
    # Rules name these in annotations alone, which are never evaluated.
    ByHand = Filling = Call = Facts = Form = Value = Node = Expression = Comparison = Config = Setting = object
    TrainingLoop = Event = Decision = Path = Selection = object

__all__ = [
    "COMPARISONS",
    "DATA",
    "RATES",
    "VANISHING",
    "Applicability",
    "ByHand",
    "Call",
    "Comparison",
    "Config",
    "Decision",
    "Direction",
    "Edit",
    "Event",
    "Expression",
    "Facts",
    "Filling",
    "Finding",
    "Fix",
    "Form",
    "Hazard",
    "Iterator",
    "Need",
    "Node",
    "Option",
    "Path",
    "Rule",
    "Selection",
    "Setting",
    "Severity",
    "Span",
    "TrainingLoop",
    "Value",
    "safe",
    "show",
    "unsafe",
]

Option = int | float | str | bool
COMPARISONS = frozenset(f"torch.{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge"))
"""The operations that make a mask of values."""
FORMATS: tuple[str, ...] = ("float16", "bfloat16", "float32", "float64")


def safe(title: str, *edits: Edit) -> Fix:
    """A fix that keeps every finite result and its gradient, up to rounding."""
    return Fix(title, Applicability.SAFE, edits)


def unsafe(title: str, *edits: Edit) -> Fix:
    """A fix that moves some results; it is applied to those who ask for it."""
    return Fix(title, Applicability.UNSAFE, edits)


def show(title: str, *edits: Edit) -> Fix:
    """A sketch of a fix, which is never applied."""
    return Fix(title, Applicability.SHOW, edits)


class Need(NamedTuple):
    """What must stand in the code before a rule can fire: it decides what the analysis gets to see, and nothing else.

    The sets hold operations by the op table's names, words, and kinds of number: `<huge>`, `<tiny>`, `<minute>`, `<near one>`,
    `<fraction>`. `[]` is a subscript that is neither a number nor a slice, `<root>` and `<inverse>` are powers by their
    exponent, `<own element>` divides by an element of itself, `<two bounds>` clamps between numbers, `<mask>`, `<eps>`, `<gradient>` and
    `<log ratio>` are names that speak of one, `<low>` is a huge number below 0, `<least>` the least number of a format, `<inherited>` an attribute that
    nothing in the file sets, the empty word what `**` hands on. `<tensor>` shows that something is no number, `<computed>` is the result of any operation, `<bounded>` that of
    one which tells something of its own, `<anything>` is behind every operand: of a rule with that need, only what its operands rest on is worth knowing.
    """

    calls: frozenset[str]
    """One of these operations is called."""
    beneath: tuple[frozenset[str], ...] = ()
    """Of each set there is one in its operands, or in what these were computed from in this file."""
    beside: frozenset[str] = frozenset()
    """One of these is anywhere in the file."""
    along: tuple[frozenset[str], ...] = ()
    """Of each set there is one in the same function."""
    unless: frozenset[str] = frozenset()
    """The rule is silent in functions in which one of these words occurs."""
    made_by: frozenset[str] = frozenset()
    """One of these made an operand, through names, views and plain arithmetic, but no clamp and no other function."""
    named: frozenset[str] = frozenset()
    """One of these words is in the name that an operand goes by, as it is written."""
    above: frozenset[str] = frozenset()
    """As `made_by`, of what is divided."""
    spread: Literal["", "one", "another", "every"] = ""
    """Behind which operands the sets of `beneath` must be: all of them behind one, the last behind another than the first, each behind
    every one; anywhere if nothing is said."""
    form: str = ""
    """The form that the operation must have: `<selected>` has an operand `x[index]`, `<eps added>` one `x + eps`, `<late eps>` adds an
    eps to the result of a call, `<called by name>` is no method of a value, `<mark given>` may have an `ignore_index`, `<huge constant>` has an operand that is one, `<cast and huge>` another that is cast as well, `<wide limit>`
    one that is the lower limit of a format wider than float16, `<least twice>` two that are filled with the least number of one, `<of variance>` one that
    is an average less a square, `<of tested>` one that is compared with something, or made of what is, `<infinite constant>` one that is infinite, `<amplified>` one over a small number,
    `<may be learned>` one that is neither a number nor computed here, `<compared>`
    is no `where`, or one by a comparison."""
    but: frozenset[str] = frozenset()
    """Forms in which it cannot break: `<raised>` has an eps in its operand that float16 holds, `<floored>` any number above 0, `<number added>`
    any number as a term, `<learned>` is given the sum or the norm of what a model makes by its name, `<uncounted>` the sum of what
    nothing has tested, `<eps given>` has an argument of that name, `<no diagonal>` is an einsum without one, `<filled>` makes what something in the file fills, `<not learned>` what has no gradient, `<wide scores>` fills
    what is in float32 or a number, `<asked for>` is given what the function compares with 0, `<own called>` calls an attribute of the object."""
    not_named: tuple[str, ...] = ()
    """The rule is silent in functions whose names contain one of these."""
    where: Literal["", "no test", "could train", "may train", "trained", "sets elements", "watches", "replaces"] = ""
    """What the function must be by its names, as facts judge them; or it has an assignment to `x[index]`, or speaks of a loss, a
    gradient or a norm, or puts a number in the place of one that is not finite."""
    recorded: bool = False
    """Whether the rule is silent where autograd records nothing: in an evaluation step, or under `@torch.no_grad()`."""


class Rule:
    """One rule. The docstring is its page: a summary line, then the sections that `nanlint explain` prints."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    direction: ClassVar[Direction] = Direction.FORWARD
    dtypes: ClassVar[tuple[str, ...]] = FORMATS
    preview: ClassVar[bool] = False
    """Off unless selected by code or name, or with `preview = true`."""

    calls: ClassVar[frozenset[str]] = frozenset()
    """The operations `check_call` is shown: the op table's names, dotted names (`math.isnan`), methods (`.step`)."""
    beside: ClassVar[frozenset[str]] = frozenset()
    """Words of which the file must hold one before the rule can fire at all; empty for no such condition."""
    needs: ClassVar[tuple[Need, ...]] = ()
    """A narrower condition than `calls` and `beside`: one of these must be met in a function."""
    comparisons: ClassVar[frozenset[str]] = frozenset()
    """Words of which a function must hold one before `check_comparison` is shown its comparisons; empty for none at all."""
    compares: ClassVar[Literal["", "compares limits"]] = ""
    """Whether it needs a comparison with NaN, of something with itself, or with a number that may be large, and not just any."""
    settings: ClassVar[frozenset[str]] = frozenset()
    """The keys `check_setting` is shown, in config files and in Python configs, written as `grad_clip`."""
    loops: ClassVar[frozenset[str]] = frozenset()
    """Words of which a file must hold one before `check_loop` is shown its training loops; empty for none at all."""
    yields_to: ClassVar[frozenset[str]] = frozenset()
    """Codes of rules that tell of the same defect more precisely: where one of them fires, this one is silent. At `info` they hide
    nothing that is shown by default."""
    options: ClassVar[Mapping[str, Option]] = {}
    """Names and defaults of what `[tool.nanlint.rules.CODE]` may set."""

    def __init__(self, options: Mapping[str, Option] | None = None) -> None:
        self._options = {**self.options, **(options or {})}

    def option(self, name: str) -> Option:
        """The value that the user set, or the default."""
        return self._options[name]

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one call of an operation in `calls`."""
        del call, facts
        return iter(())

    def check_comparison(self, node: Comparison, facts: Facts) -> Iterator[Finding]:
        """Judge one comparison."""
        del node, facts
        return iter(())

    def check_setting(self, setting: Setting, config: Config) -> Iterator[Finding]:
        """Judge one setting of a training config."""
        del setting, config
        return iter(())

    def check_loop(self, loop: TrainingLoop, facts: Facts) -> Iterator[Finding]:
        """Judge one training loop, or one method that makes a training step."""
        del loop, facts
        return iter(())

    def finding(
        self, span: Span, message: str, *, fix: Fix | None = None, hazard: Hazard | None = None, **changes: object
    ) -> Finding:
        """A finding of this rule; `changes` may set its severity, direction or dtypes apart from the rule's own."""
        fields: dict[str, object] = {
            "severity": self.severity,
            "direction": self.direction,
            "dtypes": self.dtypes,
            **changes,
        }
        return Finding(self.code, self.name, span, message, fix=fix, hazard=hazard, **fields)  # type: ignore[arg-type]

    @classmethod
    def section(cls, title: Literal["Why it hurts", "Flagged", "Instead", "Silent when", "Fix"]) -> str:
        """The text of one section of the docstring."""
        from inspect import cleandoc  # noqa: PLC0415 - only explain and the docs ask

        _, _, rest = f"\n{cleandoc(cls.__doc__ or '')}".partition(f"\n## {title}\n")
        return rest.partition("\n## ")[0].strip("\n")
