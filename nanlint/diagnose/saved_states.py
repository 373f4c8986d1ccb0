"""Checkpoints, cached tensors and tables of a project: which hold values that are not finite, and which to resume from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanlint.diagnose.answer import CHECKPOINT, DATA, LEARNING_RATE, Clue, Resume
from nanlint.diagnose.project import Project, config_candidates, is_data
from nanlint.diagnose.tables import read_table
from nanlint.errors import NanlintError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from nanlint.checkpoint.diagnosis import Diagnosis
    from nanlint.checkpoint.layout import Checkpoint
    from nanlint.checkpoint.series import Series
    from nanlint.checkpoint.stated import Config, Stated
    from nanlint.checkpoint.symptoms import Symptom

_MOST_TOLD = 3
"""Tensors of one checkpoint that are named."""
_STRENGTHS = {"loss-scale": "loss-scale", "exploded": "exploded", "beyond-format": "beyond-format"}


@dataclass
class Saved:
    """What was read: the runs in order, data files, and what could not be read."""

    runs: list[Series] = field(default_factory=list)
    data: list[Diagnosis] = field(default_factory=list)
    config: Config | None = None


def place_of(checkpoint: Checkpoint) -> Path:
    """Its file, or its folder if several files make it."""
    return checkpoint.files[0] if len(checkpoint.files) == 1 else checkpoint.path


def stated_config(project: Project, named: Path | None, command: str) -> tuple[Config | None, list[str]]:
    """The config that states the learning rate, and what cannot be read of the others."""
    from nanlint.checkpoint.stated import read_config  # noqa: PLC0415 - for this step only

    if named is not None:
        return read_config(named), []
    complaints: list[str] = []
    for path in config_candidates(project, command):
        try:
            config = read_config(path)
        except NanlintError as error:
            complaints.append(str(error).removeprefix("--config "))
            continue
        if not config.lacks_a_rate:
            return config, complaints
    return None, complaints


def rate_of(config: Config | None) -> Stated | None:
    """The learning rate that a config states."""
    return next((each for each in config.numbers if each.is_learning_rate), None) if config is not None else None


def read_saved(project: Project, config: Config | None, progress: Callable[[str], None]) -> Saved:
    """Read every saved file of the project as data."""
    from nanlint.checkpoint.diagnosis import PASSED_OVER, Request, diagnose  # noqa: PLC0415 - imports torch
    from nanlint.checkpoint.layout import checkpoints  # noqa: PLC0415 - for this step only
    from nanlint.checkpoint.series import in_order  # noqa: PLC0415 - same
    from nanlint.checkpoint.stated import Config as Nothing  # noqa: PLC0415 - same

    saved = Saved(config=config)
    runs: dict[Path, list[Diagnosis]] = {}
    for each in checkpoints([project.root]) if project.tensors else []:
        if not project.owns(each.path):
            continue
        progress(project.shown(place_of(each)))
        found = diagnose(each, Request(config or Nothing()))
        if found.verdict == PASSED_OVER:
            continue
        is_state = found.step is not None or found.learning_rate is not None or each.layout != "file"
        if is_data(place_of(each), project.root) and not is_state:
            saved.data.append(found)
        else:
            runs.setdefault(each.path.parent, []).append(found)
    saved.runs = [in_order(group) for group in runs.values()]
    return saved


def data_clues(saved: Saved, project: Project) -> Iterator[Clue]:
    """Data files that hold NaN or Inf."""
    for found in saved.data:
        if found.errors:
            path = project.shown(place_of(found.checkpoint))
            told = "; ".join(f"{each.name}: {each.message}" for each in found.errors[:_MOST_TOLD])
            strength = "data-named" if project.mentions(place_of(found.checkpoint)) else "data"
            yield _data_clue(path, strength, told)


def table_clues(project: Project, notes: list[str]) -> Iterator[Clue]:
    """Tables with cells that are not finite, or missing among numbers; what cannot be read goes to `notes`."""
    for path in project.tables:
        try:
            table = read_table(path)
        except (OSError, ValueError) as error:
            notes.append(f"{project.shown(path)} cannot be read: {error}")
            continue
        worst = next(iter(table.flawed), None)
        if worst is None or worst.first_bad is None:
            continue
        line, cell = worst.first_bad
        shown = f"`{cell.strip()}`" if cell.strip() else "empty"
        told = f"column {worst.name}: {worst.flaws:,} of {table.rows:,} cells are no finite number, the first is {shown} in line {line}"
        if worst.bad:
            strength = "data-named" if project.mentions(path) else "data"
        else:
            strength = "data-filled" if project.fills_gaps else "data-missing"
        yield _data_clue(project.shown(path), strength, told, line)


def _data_clue(path: str, strength: str, told: str, line: int = 0) -> Clue:
    title = f"{path} holds values that are not finite: a batch that has one of them makes the loss NaN"
    if strength in {"data-missing", "data-filled"}:
        title = f"{path} has empty cells among numbers: most readers make NaN of them"
    first = f"make {path} again without them, or leave the rows out when it is loaded"
    return Clue(DATA, path, strength, title, f"{path}: {told}", first, path, line)


def checkpoint_clues(saved: Saved, project: Project) -> Iterator[Clue]:
    """What is wrong with the checkpoints of each run."""
    now = current_run(saved, project)
    for series in saved.runs:
        yield from _not_finite(series, project, is_current=series is now)
    latest = _latest(now) if now is not None else None
    if now is not None and latest is not None:
        yield from _symptoms(latest, now, project)
        yield from _other_format(latest, saved.config, project)


def current_run(saved: Saved, project: Project) -> Series | None:
    """The checkpoints of the run that the code names, or that was written to last."""
    return max(saved.runs, key=lambda each: (_is_named(each, project), _written(each)), default=None)


def _other_format(found: Diagnosis, config: Config | None, project: Project) -> Iterator[Clue]:
    """Trained in one half format, and to go on in the other: what fits bfloat16 can be inf in float16."""
    stated = config.formats if config is not None else ()
    others = [name for name in found.formats if name not in stated]
    if len(stated) == 1 and others and config is not None:
        path = project.shown(place_of(found.checkpoint))
        told = f"{path} was trained in {others[0]} (its weights or its loss scaler say so), and {config.file} says {stated[0]}"
        first = f"go on in {others[0]}, or convert the weights and begin with a new scaler"
        yield Clue(CHECKPOINT, f"{path} format", "format", told, told, first, path)


def _latest(series: Series) -> Diagnosis | None:
    from nanlint.checkpoint.diagnosis import UNREADABLE  # noqa: PLC0415 - imports torch

    return next((each for each in reversed(series.diagnoses) if each.verdict != UNREADABLE), None)


def _not_finite(series: Series, project: Project, *, is_current: bool) -> Iterator[Clue]:
    first = series.first_bad
    latest = _latest(series)
    if first is None or latest is None:
        return
    bad = [each for each in series.diagnoses if each.errors]
    named = next((each for each in reversed(bad) if project.mentions(place_of(each.checkpoint))), bad[-1])
    worst = named if latest.errors else first
    path = project.shown(place_of(worst.checkpoint))
    told = "; ".join(f"{each.name}: {each.message}" for each in worst.errors[:_MOST_TOLD])
    more = f" and {len(worst.errors) - _MOST_TOLD} more tensors" if len(worst.errors) > _MOST_TOLD else ""
    clean = series.last_clean
    instead = f"resume from {project.shown(place_of(clean.checkpoint))}" if clean else "start anew: none is clean"
    title = f"{path} holds values that are not finite: a run that resumes from it is lost from its first step"
    evidence = f"{path}: {told}{more}"
    if len(series.diagnoses) > 1:
        evidence += f"; the first bad one by {series.order} is {project.shown(place_of(first.checkpoint))}"
    strength = "other-run" if not is_current else "latest-bad" if latest.errors else "earlier-bad"
    yield Clue(CHECKPOINT, path, strength, title, evidence, f"move {path} away, and {instead}", path)


def _symptoms(found: Diagnosis, series: Series, project: Project) -> Iterator[Clue]:
    path = project.shown(place_of(found.checkpoint))
    for kind, some in _by_kind(found).items():
        told = "; ".join(f"{each.name}: {each.message}" for each in some[:_MOST_TOLD])
        if kind == "lr-config":
            yield _rate_clue(found, some[0], path)
            continue
        strength = _STRENGTHS.get(kind, "state")
        title = f"{path}: {some[0].name}: {some[0].message}"
        first = some[0].hint or _remedy(kind, series, found, project)
        yield Clue(CHECKPOINT, f"{path} {kind}", strength, title, f"{path}: {told}", first, path)


def _by_kind(found: Diagnosis) -> dict[str, list[Symptom]]:
    kinds: dict[str, list[Symptom]] = {}
    for symptom in found.symptoms:
        if symptom.level == "warning":
            kinds.setdefault(symptom.kind, []).append(symptom)
    return kinds


def _remedy(kind: str, series: Series, found: Diagnosis, project: Project) -> str:
    earlier = [each for each in series.diagnoses if each is not found and not _by_kind(each).keys() & _STRENGTHS]
    from_there = f"resume from {project.shown(place_of(earlier[-1].checkpoint))}, or " if earlier else ""
    if kind == "loss-scale":
        return f"{from_there}do not load the scaler's state; find what overflows, or train in bfloat16, which needs no scaler"
    if kind in _STRENGTHS:
        return f"{from_there}lower the learning rate and clip gradients before going on"
    return "nanlint checkpoint shows all of it"


def _rate_clue(found: Diagnosis, symptom: Symptom, path: str) -> Clue:
    rate = found.learning_rate
    stated = rate.stated.value if rate is not None and rate.stated is not None else 0.0
    is_above = rate is not None and max(rate.resumes_with, default=0.0) > stated
    title = f"a run that resumes from {path} does not train with the learning rate of its config"
    if rate is not None and rate.stated is not None:
        title = f"a run that resumes from {path} trains with lr {max(rate.resumes_with):.4g}, not with the {stated:.4g} of {rate.stated.where}"
    return Clue(LEARNING_RATE, "rate", "rate-above" if is_above else "rate-below", title, f"{path}: {symptom.message}", symptom.hint, path)  # fmt: skip


def resume_of(saved: Saved, project: Project) -> Resume | None:
    """What to go on from, and with which rate: of the run that the code names, or that was written to last."""
    series = current_run(saved, project)
    if series is None:
        return None
    best = _best(series)
    if best is None:
        return Resume("", f"none of the {len(series.diagnoses)} checkpoints is clean", _stated(saved))
    path = project.shown(place_of(best.checkpoint))
    moment = f"step {best.step:,}" if best.step is not None else f"epoch {best.epoch}" if best.epoch is not None else ""
    why = f"the last clean one by {series.order}" + (f", {moment}" if moment else "")
    rate, rate_why = _rate(best, saved)
    return Resume(path, why, rate, rate_why)


def _best(series: Series) -> Diagnosis | None:
    """The last clean one whose loss scale and weights have not run away either, if there is one."""
    from nanlint.checkpoint.diagnosis import CLEAN  # noqa: PLC0415 - imports torch

    clean = [each for each in reversed(series.diagnoses) if each.verdict == CLEAN]
    return next((each for each in clean if not _by_kind(each).keys() & _STRENGTHS.keys()), clean[0] if clean else None)


def _is_named(series: Series, project: Project) -> bool:
    return any(project.mentions(place_of(each.checkpoint)) for each in series.diagnoses)


def _written(series: Series) -> float:
    times = [file.stat().st_mtime for each in series.diagnoses for file in each.checkpoint.files if file.exists()]
    return max(times, default=0.0)


def _stated(saved: Saved) -> float | None:
    stated = rate_of(saved.config)
    return stated.value if stated is not None else None


def _rate(best: Diagnosis, saved: Saved) -> tuple[float | None, str]:
    found = best.learning_rate
    if found is None:
        stated = rate_of(saved.config)
        return (stated.value, f"as {stated.where} says") if stated is not None else (None, "")
    trap = next((each for each in best.symptoms if each.kind == "lr-config"), None)
    if trap is not None and found.stated is not None:
        brought = f"loading alone brings back {max(found.resumes_with):.4g}"
        return found.stated.value, f"as {found.stated.where} says; {brought}: {trap.hint}"
    return max(found.resumes_with), f"the saved one: {found.reason}"


def run_names(saved: Saved, project: Project) -> Sequence[str]:
    """Every checkpoint, in order."""
    return [project.shown(place_of(each.checkpoint)) for series in saved.runs for each in series.diagnoses]
