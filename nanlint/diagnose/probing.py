"""Models and losses run behind confirm's walls although the linter says nothing of them.

The same search as for a finding (ordinary values, corners, empty masks, large values), with any failure in the function's own
file counting.
"""

from __future__ import annotations

import ast
import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nanlint.diagnose.answer import CODE, Clue
from nanlint.diagnose.project import is_test
from nanlint.model import Finding, Severity, Span
from nanlint.model.verdict import Plausibility, VerdictKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from nanlint.confirm.harness import Harness
    from nanlint.diagnose.project import Project
    from nanlint.model.verdict import Verdict

_LOSS = re.compile(r"loss|criterion|objective|divergence|entropy|elbo|nll|penalty|(^|_)(kl|mi|dist|distance)(_|$)")
_LOSS_FILE = re.compile(r"(^|_)(loss|losses|criterions?|objectives?)(_|$)")
_MODULE = re.compile(r"Module\b")
_PASSED_THROUGH = re.compile(r"conv|mm(_|$)|linear|matmul|^dot|^mv|attention|^sum|^mean|^add|^mul")
"""Operations that hand on what they are given, and overflow if that is large enough."""
_TIMEOUT = 15.0


@dataclass(frozen=True)
class Subject:
    """A loss or a model that can be tried."""

    path: Path
    name: str
    line: int
    end_line: int
    is_loss: bool


def subjects(project: Project, findings: Sequence[Finding]) -> list[Subject]:
    """Losses, then models; those with findings were run already."""
    taken = {(one.path, one.span.line) for one in findings}
    found = [
        subject
        for path in project.python
        if "torch" in project.texts.get(path, "") and not is_test(path, project)
        for subject in _in_file(path, project.texts[path])
        if not any(where == project.shown(path) and subject.line <= line <= subject.end_line for where, line in taken)
    ]
    return sorted(found, key=lambda subject: not subject.is_loss)


def _in_file(path: Path, text: str) -> Iterator[Subject]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.args.args and _is_loss(node.name, path):
            yield _subject(path, node, node.name, is_loss=True)
        elif isinstance(node, ast.ClassDef) and any(_MODULE.search(ast.unparse(base)) for base in node.bases):
            forward = next(
                (one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "forward"), None
            )
            if forward is not None:
                yield _subject(path, forward, node.name, is_loss=_is_loss(node.name, path))


def _subject(path: Path, node: ast.FunctionDef, name: str, *, is_loss: bool) -> Subject:
    return Subject(path, name, node.body[0].lineno, node.end_lineno or node.lineno, is_loss)


def _is_loss(name: str, path: Path) -> bool:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return bool(_LOSS.search(words) or _LOSS_FILE.search(path.stem.lower()))


def probe(subject: Subject, project: Project, harness: Harness) -> Clue | None:
    """A clue if the subject breaks on inputs that are not extreme, twice in the same way."""
    from nanlint.confirm.options import Options  # noqa: PLC0415 - for this step only
    from nanlint.confirm.target import target_of  # noqa: PLC0415 - same
    from nanlint.confirm.verdicts import of_answer  # noqa: PLC0415 - same

    options = Options(timeout=_TIMEOUT, budget=600)
    finding = Finding(
        "", "probe", Span(subject.line, 1, subject.end_line, 1), "", Severity.INFO, path=str(subject.path)
    )
    target = replace(target_of(finding, project.texts[subject.path], str(subject.path)), first=subject.line, last=subject.end_line)  # fmt: skip
    job: dict[str, Any] = options.job("search", target, finding)
    job["target"]["anywhere"] = True
    answer = harness.ask(job)
    if answer.get("kind") != VerdictKind.CONFIRMED.value:
        return None
    try:
        verdict = of_answer(answer, options, target)
        again = options.job("replay", target, finding) | {
            "case": answer["case"],
            "level": answer["level"],
            "text": None,
        }
        again["target"]["anywhere"] = True
        if not verdict.is_confirmed or harness.ask(again).get("hit") != answer["hit"]:
            return None
    except (KeyError, TypeError, ValueError, AttributeError):
        # The border to the child: the user's code can write an answer itself.
        return None
    return _clue(subject, project.shown(subject.path), verdict) if _is_telling(verdict) else None


def _is_telling(verdict: Verdict) -> bool:
    """Whether the line itself breaks: not a product of matrices that large values pass through, nor weights that made-up steps moved."""
    operation = str((verdict.witness or {}).get("operation", ""))
    return (verdict.how or "").startswith("input only") and not _PASSED_THROUGH.search(operation)


def _clue(subject: Subject, path: str, verdict: Verdict) -> Clue:
    line = int((verdict.witness or {}).get("line") or subject.line)
    grade = (verdict.plausibility or Plausibility.LARGE).value
    return Clue(
        CODE, f"{path}::{line}", f"probe-{grade}",
        f"`{subject.name}` gives NaN or inf for {_article(grade)} input that nanlint made up",
        f"run in the sandbox: {verdict.reason}; see whether your values can be like this",
        f"guard line {line}: clamp what goes into it, or use the function of torch that is stable there",
        path, line,
    )  # fmt: skip


def _article(grade: str) -> str:
    return f"{'an' if grade[0] in 'aeiou' else 'a'} {grade}"


def probe_all(
    some: Sequence[Subject], project: Project, harness: Harness, until: float, note: Callable[[Subject], None]
) -> Iterator[Clue | None]:
    """For each subject in turn the clue that it gives, or None, until the time is over."""
    for subject in some:
        if time.monotonic() >= until:
            return
        note(subject)
        yield probe(subject, project, harness)
