"""The contract: all that a rule may import.

A rule is one class in one file. It declares the hazards, loops or settings it watches for, is shown each of them, and yields findings. It
keeps no state, walks no tree and reads no settings; its options are declared below and arrive with their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict

from nanlint.analysis import possible_numbers
from nanlint.analysis.patterns import (
    clips,
    differences,
    entropies,
    eps,
    exponentials,
    exponents,
    half_overflows,
    kept,
    log_arguments,
    lost_bounds,
    mask_constants,
    masked_rows,
    module_casts,
    norms,
    probabilities,
    temperatures,
    variances,
)
from nanlint.analysis.patterns import products as patterns
from nanlint.analysis.patterns import under_roots as roots
from nanlint.analysis.project import bare_memory
from nanlint.analysis.training_loop import unscaling
from nanlint.analysis.training_loop.checks import half_checks, hidden_nan
from nanlint.analysis.training_loop.runs import saving
from nanlint.evidence import table as items
from nanlint.evidence.levels import level
from nanlint.evidence.table import Item
from nanlint.hazards import uses
from nanlint.hazards.fixes import replacing, selection_fixes
from nanlint.hazards.fixes.denied import denied
from nanlint.hazards.watched import Watched, every, in_half, restored, thrown_away, too_few, zone
from nanlint.model import FORMATS, Applicability, Direction, Edit, Finding, Fix, Hazard, Label, Severity, Span
from nanlint.word_sets import torch_names, word_set

if TYPE_CHECKING:
    import ast

    from typing_extensions import Unpack

    from nanlint.analysis.config.settings import Config, Setting
    from nanlint.analysis.op_graph import Op
    from nanlint.analysis.training_loop.events import Event
    from nanlint.analysis.training_loop.loops import TrainingLoop
    from nanlint.analysis.training_loop.paths import Decision, Path
    from nanlint.hazards.hazard import Hazard as OpHazard

    Syntax = ast.AST
else:
    # Rules name these in annotations alone, which are never evaluated.
    Syntax = Config = Setting = TrainingLoop = Event = Decision = Path = Op = OpHazard = object

__all__ = [
    "Applicability",
    "Config",
    "Decision",
    "Direction",
    "Edit",
    "Event",
    "Finding",
    "Fix",
    "Hazard",
    "Item",
    "Iterator",
    "Label",
    "LoopRule",
    "Op",
    "OpHazard",
    "Option",
    "Path",
    "Rule",
    "Setting",
    "Severity",
    "Span",
    "Syntax",
    "TrainingLoop",
    "Watched",
    "bare_memory",
    "clips",
    "denied",
    "differences",
    "entropies",
    "eps",
    "every",
    "exponentials",
    "exponents",
    "half_checks",
    "half_overflows",
    "hidden_nan",
    "in_half",
    "items",
    "kept",
    "log_arguments",
    "lost_bounds",
    "mask_constants",
    "masked_rows",
    "module_casts",
    "norms",
    "patterns",
    "possible_numbers",
    "probabilities",
    "replacing",
    "restored",
    "roots",
    "safe",
    "saving",
    "selection_fixes",
    "show",
    "temperatures",
    "thrown_away",
    "too_few",
    "torch_names",
    "unsafe",
    "unscaling",
    "uses",
    "variances",
    "word_set",
    "zone",
]

Option = int | float | str | bool
MOVING = (
    'name its operations in `hazards = (every("torch.log"),)` and word each in `check(self, hazard)`, as "Rules written for'
    ' 0.1.0" in CONTRIBUTING.md shows'
)
"""What to do with a rule that was written for an earlier version."""


_GONE = word_set("Call Facts Comparison Expression Node Form Value Filling Selection COMPARISONS")


def __getattr__(name: str) -> object:
    if name in _GONE:
        raise ImportError(f"nanlint.rule has no {name} any more: {MOVING}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def safe(title: str, *edits: Edit | tuple[Edit, ...] | None) -> Fix | None:
    """A fix that keeps every finite result and its gradient, up to rounding; None if one of its edits is, or there are none."""
    return _fix(title, Applicability.SAFE, edits)


def unsafe(title: str, *edits: Edit | tuple[Edit, ...] | None) -> Fix | None:
    """A fix that moves some results, and is applied to those who ask for it; None as above."""
    return _fix(title, Applicability.UNSAFE, edits)


def _fix(title: str, kind: Applicability, edits: tuple[Edit | tuple[Edit, ...] | None, ...]) -> Fix | None:
    found = [each for edit in edits for each in (edit if isinstance(edit, tuple) else (edit,))]
    known = tuple(each for each in found if each is not None)
    return Fix(title, kind, known) if known and len(known) == len(found) else None


def show(title: str, *edits: Edit) -> Fix:
    """A sketch of a fix, which is never applied."""
    return Fix(title, Applicability.SHOW, edits)


_HALVES = word_set("float16 bfloat16")


class Parts(TypedDict, total=False):
    """What a finding may have beside its message: other places, a reason and code of its own, or what differs from its rule."""

    labels: tuple[Label, ...]
    why: str
    help: str
    direction: Direction
    dtypes: tuple[str, ...]


class Rule:
    """One rule. The docstring is its page: a summary line, then the sections that `nanlint explain` prints."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity | None] = None
    """None for a level that the evidence decides; a rule of a user's own may state one."""
    evidence: ClassVar[tuple[Item, ...]] = ()
    """What is true of every finding of the rule."""
    direction: ClassVar[Direction] = Direction.FORWARD
    dtypes: ClassVar[tuple[str, ...]] = FORMATS
    preview: ClassVar[bool] = False
    """Off unless selected by code or name, or with `preview = true`."""

    beside: ClassVar[frozenset[str]] = frozenset()
    """Words of which the file must hold one before the rule can fire at all; empty for no such condition."""
    settings: ClassVar[frozenset[str]] = frozenset()
    """The keys `check_setting` is shown, in config files and in Python configs, written as `grad_clip`."""
    loops: ClassVar[frozenset[str]] = frozenset()
    """Words for which a function is looked at; `check_loop` is then shown the training loops of the file. Empty for none at all."""
    yields_to: ClassVar[frozenset[str]] = frozenset()
    """Codes of rules that tell of the same defect more precisely: where one of them fires, this one is silent, and the other has the
    level of the stronger evidence."""
    options: ClassVar[Mapping[str, Option]] = {}
    """Names and defaults of what `[tool.nanlint.rules.CODE]` may set."""

    def __init__(self, options: Mapping[str, Option] | None = None) -> None:
        self._options = {**self.options, **(options or {})}

    def option(self, name: str) -> Option:
        """The value that the user set, or the default."""
        return self._options[name]

    hazards: ClassVar[tuple[Watched, ...]] = ()
    """The operands and zones of which `check` is shown the hazards."""
    zone: ClassVar[str] = "0"
    """The values that break what the op table has no zone for."""

    @classmethod
    def operations(cls) -> frozenset[str]:
        """All operations that the rule is about."""
        return frozenset(each.operation for each in cls.hazards)

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Word one hazard, and fix it."""
        del hazard
        return iter(())

    def check_setting(self, setting: Setting, config: Config) -> Iterator[Finding]:
        """Judge one setting of a training config."""
        del setting, config
        return iter(())

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge one training loop, or one method that makes a training step."""
        del loop
        return iter(())

    def check_step(self, step: TrainingLoop) -> Iterator[Finding]:
        """Judge one function that makes a step and leaves the backward to its caller."""
        del step
        return iter(())

    def finding(
        self,
        span: Span,
        message: str,
        *,
        fix: Fix | None = None,
        hazard: Hazard | None = None,
        evidence: tuple[Item, ...] = (),
        **parts: Unpack[Parts],
    ) -> Finding:
        """A finding of this rule; `evidence` is what the rule knows of this one."""
        items = tuple(item.name for item in (*self.evidence, *evidence))
        severity = self.severity or level(self.code, frozenset(items))
        told: Parts = {"direction": self.direction, "dtypes": self.dtypes, **parts}
        return Finding(self.code, self.name, span, message, severity, fix=fix, hazard=hazard, evidence=items, **told)

    def told(
        self,
        hazard: OpHazard,
        message: str,
        *,
        at: Span | None = None,
        fix: Fix | None = None,
        evidence: tuple[Item, ...] = (),
        **parts: Unpack[Parts],
    ) -> Finding:
        """A finding about a hazard: place, formats and direction are the hazard's; the engine adds the evidence of the place."""
        if hazard.zones:
            parts = {"direction": hazard.direction, "dtypes": hazard.dtypes, **parts}
        saved_by = hazard.saved_by if _HALVES.issuperset(parts.get("dtypes", self.dtypes)) else ""
        zone = str(hazard.zones[0]) if hazard.zones else self.zone
        text = Hazard(hazard.called, hazard.operand.text, zone, saved_by, hazard.range, hazard.users)
        return self.finding(at or hazard.span, message, fix=fix, hazard=text, evidence=evidence, **parts)

    @classmethod
    def section(cls, title: Literal["Why it hurts", "Flagged", "Instead", "Silent when", "Fix"]) -> str:
        """The text of one section of the docstring."""
        from inspect import cleandoc  # noqa: PLC0415 - only explain and the docs ask

        _, _, rest = f"\n{cleandoc(cls.__doc__ or '')}".partition(f"\n## {title}\n")
        return rest.partition("\n## ")[0].strip("\n")


class LoopRule(Rule):
    """A rule about training loops: it is shown each in `check_loop`."""

    direction = Direction.LOOP
    loops = frozenset({"backward"})
