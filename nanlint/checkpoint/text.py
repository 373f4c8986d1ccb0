"""The report for people: a line per checkpoint, what is wrong with it below, and at the end which one to resume from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.checkpoint.diagnosis import BAD, CLEAN, UNREADABLE
from nanlint.checkpoint.learning_rate import ABOUT_THE_RATE, told
from nanlint.checkpoint.symptoms import ERROR, NOTE, WARNING, Symptom
from nanlint.report.paint import FAINT, PLAIN, STRONG, Piece
from nanlint.report.wording import counted, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from nanlint.checkpoint.diagnosis import Diagnosis, Failure
    from nanlint.checkpoint.series import Series

MOST_OF_A_KIND = 5
"""A model that is lost has hundreds of tensors with NaN, and a handful tells as much."""

_STYLES = {
    ERROR: "bold red",
    WARNING: "bold yellow",
    NOTE: "bold cyan",
    CLEAN: "green",
    BAD: "bold red",
    UNREADABLE: "bold yellow",
}


def report(series: Series, *, everything: bool = False) -> Iterator[Piece]:
    """The pieces of the report; with `everything`, no tensor is left out."""
    for diagnosis in series.diagnoses:
        yield from _heading(diagnosis)
        yield from _symptoms(list(_worth_telling(diagnosis, series, everything=everything)), everything=everything)
        yield from _failures(diagnosis.failures, everything=everything)
    yield from _closing(series)


def _failures(failures: Sequence[Failure], *, everything: bool) -> Iterator[Piece]:
    shown = failures if everything or len(failures) <= MOST_OF_A_KIND + 1 else failures[:MOST_OF_A_KIND]
    for path, message in shown:
        yield "  unreadable  ", _STYLES[UNREADABLE]
        yield f"{printable(str(path))} {printable(str(message))}\n", PLAIN
    if len(shown) < len(failures):
        yield f"           and {len(failures) - len(shown):,} more (--all shows them)\n", FAINT


def _worth_telling(diagnosis: Diagnosis, series: Series, *, everything: bool) -> Iterator[Symptom]:
    """The symptoms; those of the learning rate only where one would resume from: the others of a run have the same."""
    resumed = series.last_clean or series.diagnoses[-1]
    rate = diagnosis.learning_rate
    for symptom in diagnosis.symptoms:
        if everything or series.concerns(symptom, diagnosis):
            yield symptom
    told_already = any(symptom.kind == "lr-config" for symptom in diagnosis.symptoms)
    if rate is not None and not told_already and (everything or diagnosis is resumed):
        yield Symptom(NOTE, "lr", ABOUT_THE_RATE, f"training resumes with {told(rate.resumes_with)}: {rate.reason}")


def _heading(diagnosis: Diagnosis) -> Iterator[Piece]:
    yield printable(str(diagnosis.checkpoint.path)), STRONG
    yield ": ", PLAIN
    yield diagnosis.verdict, _STYLES[diagnosis.verdict]
    if diagnosis.verdict != UNREADABLE or diagnosis.tensors:
        facts = [*_moment(diagnosis), counted_in_thousands(diagnosis.tensors, "tensor"), size(diagnosis.bytes)]
        facts += [diagnosis.checkpoint.layout] if diagnosis.checkpoint.layout not in {"file", "folder"} else []
        yield f" ({', '.join(facts)})", FAINT
    yield "\n", PLAIN


def _moment(diagnosis: Diagnosis) -> list[str]:
    steps = [] if diagnosis.step is None else [f"step {diagnosis.step:,}"]
    return steps + ([] if diagnosis.epoch is None else [f"epoch {diagnosis.epoch:,}"])


def counted_in_thousands(count: int, noun: str) -> str:
    """`1 tensor`, `1,200 tensors`."""
    return counted(count, noun).replace(str(count), f"{count:,}", 1)


def size(count: int) -> str:
    """Bytes as people say them."""
    amount, unit = float(count), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"


def _symptoms(symptoms: Sequence[Symptom], *, everything: bool) -> Iterator[Piece]:
    kinds: dict[tuple[str, str], list[Symptom]] = {}
    for symptom in symptoms:
        kinds.setdefault((symptom.level, symptom.kind), []).append(symptom)
    for level in (ERROR, WARNING, NOTE):
        for (own, kind), some in kinds.items():
            if own == level:
                yield from _some(some, kind, everything=everything)


def _some(symptoms: Sequence[Symptom], kind: str, *, everything: bool) -> Iterator[Piece]:
    shown = symptoms if everything or len(symptoms) <= MOST_OF_A_KIND + 1 else symptoms[:MOST_OF_A_KIND]
    for symptom in shown:
        file = f"{printable(symptom.file)}: " if symptom.file else ""
        yield f"  {symptom.level:<7}  ", _STYLES[symptom.level]
        yield f"{file}{printable(symptom.name)}: {printable(symptom.message)}\n", PLAIN
        if symptom.hint:
            yield f"           {printable(symptom.hint)}\n", FAINT
    if len(shown) < len(symptoms):
        yield f"           and {len(symptoms) - len(shown):,} more tensors ({kind}; --all shows them)\n", FAINT


def _closing(series: Series) -> Iterator[Piece]:
    bad = [each for each in series.diagnoses if each.verdict == BAD]
    unreadable = [each for each in series.diagnoses if each.verdict == UNREADABLE]
    clean = len(series.diagnoses) - len(bad) - len(unreadable)
    counts = f"{counted(len(series.diagnoses), 'checkpoint')}: {clean} clean, {len(bad)} bad"
    yield counts + (f", {len(unreadable)} unreadable" if unreadable else "") + ".\n", PLAIN
    if len(series.diagnoses) < 2:
        return
    first, last = series.first_bad, series.last_clean
    if first is not None:
        yield f"First bad, by {series.order}: {_told(first)}\n", PLAIN
    if last is not None and (bad or unreadable or series.order != "time of saving"):
        yield f"Last clean, by {series.order}: {_told(last)}\n", PLAIN
    if bad or unreadable:
        yield f"{_advice(series, last)}\n", STRONG


def _told(diagnosis: Diagnosis) -> str:
    moment = ", ".join(_moment(diagnosis))
    return _path(diagnosis.checkpoint.path) + (f" ({moment})" if moment else "")


def _path(path: Path) -> str:
    return printable(str(path))


def _advice(series: Series, last: Diagnosis | None) -> str:
    if last is None:
        return "None is clean: start anew, or from an older checkpoint that is not here."
    after = series.diagnoses[: series.diagnoses.index(last)]
    healed = ", although a bad one comes before it" if any(each.verdict == BAD for each in after) else ""
    return f"Resume from {_path(last.checkpoint.path)}{healed}."
