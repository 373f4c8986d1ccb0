"""The steps in their order. One that fails is told and the others go on; Ctrl-C ends with what is known so far."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from nanlint.diagnose import code_findings, probing, saved_states, traced_run
from nanlint.diagnose.answer import CHECKPOINT, DONE, FAILED, INTERRUPTED, SKIPPED, Answer, Resume, StepResult
from nanlint.diagnose.ranking import ranked
from nanlint.errors import NanlintError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nanlint.checkpoint.stated import Config
    from nanlint.diagnose.answer import Clue
    from nanlint.diagnose.project import Project
    from nanlint.model import Finding
    from nanlint.plot.read_log import Curve

NEEDS_TORCH = "needs torch, which is not installed here; pip install 'nanlint[torch]'"
_FOR_FINDINGS = 0.6
"""The share of confirm's time that findings get; the rest is for models and losses without any."""


@dataclass(frozen=True)
class Plan:
    """What the user asked for."""

    config: Path | None = None
    run: str = ""
    steps: int = 200
    run_seconds: float = 300.0
    budget: float = 120.0
    """Seconds for confirm; 0 leaves it out."""


@dataclass
class Work:
    """What the steps know of each other."""

    project: Project
    plan: Plan
    tell: Callable[[str], None]
    """Progress inside a step."""
    config: Config | None = None
    saved: saved_states.Saved = field(default_factory=saved_states.Saved)
    findings: list[Finding] = field(default_factory=list)
    bad_data: set[str] = field(default_factory=set)
    bad_states: set[str] = field(default_factory=set)
    curves: dict[str, dict[str, Curve]] = field(default_factory=dict)


def _configs(work: Work, result: StepResult) -> None:
    report = code_findings.check_configs(work.project)
    result.clues += [code_findings.config_clue(finding) for finding in report.findings]
    if work.project.is_cut:
        result.notes.append("the folder holds more files than are looked at; name the folder of one project")
    config, complaints = saved_states.stated_config(work.project, work.plan.config, work.plan.run)
    work.config = config
    result.notes += complaints
    rate = saved_states.rate_of(config)
    told = f"lr {rate.value:g} ({rate.where})" if rate is not None else "no learning rate is stated"
    result.summary = f"{told}; {_counted(len(report.findings), 'conflict or risky value', 'conflicts or risky values')}"


def _saved(work: Work, result: StepResult) -> None:
    work.saved = saved_states.read_saved(work.project, work.config, work.tell)
    checkpoints = [each for series in work.saved.runs for each in series.diagnoses]
    result.clues += saved_states.checkpoint_clues(work.saved, work.project)
    work.bad_states = {clue.path for clue in result.clues if clue.kind == CHECKPOINT}
    bad = sum(bool(each.errors) for each in checkpoints)
    result.summary = f"{_counted(len(checkpoints), 'checkpoint')}, {bad} bad"
    for each in checkpoints:
        result.notes += [f"{work.project.shown(path)} {message}" for path, message in each.failures]
    points = [
        (float(each.step), max(each.learning_rate.resumes_with))
        for each in checkpoints
        if each.step is not None and each.learning_rate is not None and each.learning_rate.resumes_with
    ]
    if len(points) > 1:
        work.curves["Checkpoints"] = {"saved learning rate": sorted(points)}


def _data(work: Work, result: StepResult) -> None:
    if find_spec("torch") is not None:
        result.clues += saved_states.data_clues(work.saved, work.project)
    result.clues += saved_states.table_clues(work.project, result.notes)
    work.bad_data = {clue.path for clue in result.clues}
    files = len(work.saved.data) + len(work.project.tables)
    result.summary = f"{_counted(files, 'data file')}, {len(result.clues)} with values that are not finite"
    for each in work.saved.data:
        result.notes += [f"{work.project.shown(path)} {message}" for path, message in each.failures]


def _check(work: Work, result: StepResult) -> None:
    report = code_findings.check_code(work.project)
    work.findings = [one for one in report.findings if one.code not in code_findings.ABOUT_CONFIGS]
    result.clues += [clue for one in work.findings if (clue := code_findings.code_clue(one)) is not None]
    result.notes += [f"{error.path}: {error.message}" for error in report.errors]
    result.summary = _counted(len(work.findings), "finding")


def _confirm(work: Work, result: StepResult) -> None:
    from nanlint.confirm.harness import Harness  # noqa: PLC0415 - for this step only

    begun = time.monotonic()
    some = probing.subjects(work.project, work.findings)
    findings = code_findings.likeliest_first(work.findings)
    until = begun + work.plan.budget * (_FOR_FINDINGS if some else 1.0)
    with Harness() as harness:
        run: list[Finding] = []
        for one in code_findings.confirmed(findings, harness, until):
            run.append(one)
            clue = code_findings.code_clue(one)
            result.clues += [clue] if clue is not None else []
            work.tell(f"{one.path}:{one.span.line}")
        tried = broken = 0
        end = begun + work.plan.budget
        for clue in probing.probe_all(some, work.project, harness, end, lambda one: work.tell(one.name)):
            tried, broken = tried + 1, broken + (clue is not None)
            result.clues += [clue] if clue is not None else []
    failed = sum(one.verdict is not None and one.verdict.is_confirmed for one in run)
    others = _counted(tried, "other model or loss", "other models and losses")
    result.summary = f"{_counted(len(run), 'finding')} run, {failed} confirmed; {others} tried, {broken} failed"
    left = len(findings) - len(run) + len(some) - tried
    if left:
        result.notes.append(f"{left} more were not run within {work.plan.budget:g} s; give them time with --budget")


def _run(work: Work, result: StepResult) -> None:
    words = traced_run.words_of(work.plan.run)
    limits = (work.plan.steps, work.plan.run_seconds)
    outcome = traced_run.run(words, work.project.root, limits, lambda done: work.tell(f"step {done}"))
    if outcome.curves:
        work.curves["The traced run"] = outcome.curves
    rate = saved_states.rate_of(work.config)
    result.clues += traced_run.clues_of(outcome, rate, _only(work.bad_data), _only(work.bad_states))
    if outcome.is_interrupted:
        raise KeyboardInterrupt
    if outcome.found is None and outcome.code:
        raise NanlintError(f"the script ended with exit code {outcome.code} after {outcome.steps} steps: {outcome.last_words}")  # fmt: skip
    if outcome.found is None and not outcome.steps:
        raise NanlintError(f"no training step was seen: {outcome.last_words or 'the script printed nothing'}")
    ended = "stopped by a value that is not finite" if outcome.found else "every loss and gradient was finite"
    result.summary = f"{_counted(outcome.steps, 'step')}, {ended}"
    result.notes += outcome.warnings[:3]


def _only(paths: set[str]) -> str:
    """The one bad file that the run must have read; with several nobody knows which."""
    return next(iter(paths)) if len(paths) == 1 else ""


def _counted(count: int, noun: str, nouns: str = "") -> str:
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


@dataclass(frozen=True)
class _Step:
    name: str
    do: Callable[[Work, StepResult], None]
    needs_torch: bool = False


STEPS = (
    _Step("configs", _configs),
    _Step("checkpoints", _saved, needs_torch=True),
    _Step("data", _data),
    _Step("check", _check),
    _Step("confirm", _confirm, needs_torch=True),
    _Step("run", _run, needs_torch=True),
)


def _why_skipped(step: _Step, plan: Plan) -> str:
    if step.name == "run" and not plan.run:
        return 'not asked for; --run "python train.py" traces a few steps'
    if step.name == "confirm" and plan.budget <= 0:
        return "left out by --budget 0"
    return NEEDS_TORCH if step.needs_torch and find_spec("torch") is None else ""


def diagnose(project: Project, plan: Plan, begin: Callable[[int, str], None], tell: Callable[[str], None], end: Callable[[StepResult], None]) -> Answer:  # fmt: skip
    """Go through the steps, and answer with what is known when they are over or the user has had enough."""
    if plan.run:
        traced_run.words_of(plan.run)
    work = Work(project, plan, tell)
    results: list[StepResult] = []
    is_interrupted = False
    for number, step in enumerate(STEPS, 1):
        result = StepResult(step.name)
        results.append(result)
        begin(number, step.name)
        begun = time.monotonic()
        try:
            _do(step, work, result)
        except KeyboardInterrupt:
            result.state, result.summary, is_interrupted = INTERRUPTED, "interrupted", True
        result.seconds = time.monotonic() - begun
        end(result)
        if is_interrupted:
            break
    return _answer(work, results, is_interrupted=is_interrupted)


def _do(step: _Step, work: Work, result: StepResult) -> None:
    why = _why_skipped(step, work.plan)
    if why:
        result.state, result.summary = SKIPPED, why
        return
    try:
        step.do(work, result)
        result.state = DONE
    except NanlintError as error:
        result.state, result.summary = FAILED, str(error)
    except Exception as error:  # noqa: BLE001 - the border of a step: the others go on
        result.state, result.summary = FAILED, f"{type(error).__name__}: {error}"


def _answer(work: Work, results: list[StepResult], *, is_interrupted: bool) -> Answer:
    causes = ranked(_clues(results))
    resume = saved_states.resume_of(work.saved, work.project) if work.saved.runs else None
    rate = saved_states.rate_of(work.config)
    if resume is None and causes and causes[0].kind == "explosion" and rate is not None:
        resume = Resume("", "there is no checkpoint; start anew", rate.value / 10, f"a tenth of the {rate.value:g} of {rate.where}")  # fmt: skip
    project = work.project
    inventory = {
        "scripts": [project.shown(path) for path in project.scripts],
        "configs": [work.config.file] if work.config is not None else [],
        "checkpoints": list(saved_states.run_names(work.saved, project)),
        "data": [
            project.shown(path)
            for path in (*(saved_states.place_of(each.checkpoint) for each in work.saved.data), *project.tables)
        ],
        "python": [project.shown(path) for path in project.python],
    }
    return Answer(
        str(project.root), inventory, tuple(results), causes, resume, dict(work.curves), is_interrupted=is_interrupted
    )


def _clues(results: list[StepResult]) -> list[Clue]:
    """All clues; what confirm says of a finding stands for what check has said of it."""
    _join(results)
    confirmed = {(clue.about, clue.code) for result in results if result.name == "confirm" for clue in result.clues}
    return [
        clue
        for result in results
        for clue in result.clues
        if result.name != "check" or (clue.about, clue.code) not in confirmed
    ]


NEAR = 3
"""Lines between a finding and the operation that broke in the run: the mask is flagged, and the softmax breaks."""


def _join(results: list[StepResult]) -> None:
    """A finding of the rule that the run names, a few lines from where it broke, is about the same thing."""
    seen = [clue for result in results if result.name == "run" for clue in result.clues if clue.code]
    for result in results:
        if result.name != "run":
            result.clues[:] = [
                next((replace(clue, about=one.about) for one in seen if _is_near(clue, one)), clue)
                for clue in result.clues
            ]


def _is_near(clue: Clue, seen: Clue) -> bool:
    is_same = (clue.kind, clue.path, clue.code) == (seen.kind, seen.path, seen.code)
    return is_same and abs(clue.line - seen.line) <= NEAR
