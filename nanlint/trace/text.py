"""A diagnosis as a person reads it in a terminal."""

from __future__ import annotations

import linecache
import textwrap
from typing import TYPE_CHECKING

from nanlint.trace.diagnosis import ELSEWHERE, INPUT, MODULE, OPERATION, OPTIMIZER, PARAMETER, Diagnosis
from nanlint.trace.places import is_installed, shown_path
from nanlint.trace.words import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.trace.measure import Stats
    from nanlint.trace.places import Place
    from nanlint.trace.readings import Reading

AROUND = 2
"""Lines of code before and after."""
SHOWN_STEPS = 6
SHOWN_LINKS = 8
_HEADLINES = {
    INPUT: "the values were not finite when they came in",
    PARAMETER: "a parameter was not finite from the start",
    OPTIMIZER: "the optimizer's step spoiled a parameter",
    MODULE: "the first bad values came out of this module",
    ELSEWHERE: "seen, but not located",
}


def headline(diagnosis: Diagnosis) -> str:
    """The diagnosis in one line."""
    if diagnosis.is_explosion:
        return f"explosion: training diverged, and {_origin(diagnosis)}"
    return _origin(diagnosis)


def _origin(diagnosis: Diagnosis) -> str:
    if diagnosis.kind == OPERATION:
        way = "the backward pass of " if diagnosis.is_backward else ""
        made = f" made {_flaws(diagnosis.output)} of finite values" if diagnosis.output else " broke"
        if any(stats.above or stats.below for stats in diagnosis.inputs) or diagnosis.cause == "inf times zero":
            made = f" made {_flaws(diagnosis.output)}" if diagnosis.output else made
        return f"{way}`{diagnosis.operation.strip('_')}`{made}"
    return _HEADLINES[diagnosis.kind]


def _flaws(output: Stats | None) -> str:
    if output is None:
        return "non-finite values"
    pairs = ((output.nan, "NaN"), (output.above, "inf"), (output.below, "-inf"))
    return " and ".join(word for amount, word in pairs if amount)


def report_text(diagnosis: Diagnosis) -> str:
    """All of it, line by line."""
    return "\n".join(_lines(diagnosis)) + "\n"


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    rank = f", rank {diagnosis.rank} of {diagnosis.world}" if diagnosis.world > 1 else ""
    yield f"nanlint: step {diagnosis.step}{rank}: {headline(diagnosis)}"
    yield from _code(diagnosis)
    yield f"  seen: {diagnosis.symptom}"
    if diagnosis.explosion:
        yield f"  growth: {diagnosis.explosion}"
    if diagnosis.is_explosion:
        rate = next((each.learning_rate for each in reversed(diagnosis.history) if each.learning_rate), None)
        than = f" than {number(rate)}" if rate else ""
        yield f"  help: a smaller learning rate{than}, a warmup, or gradients clipped to the norm of ordinary steps"
    if diagnosis.reason:
        yield f"  why: {diagnosis.reason}"
    if diagnosis.module:
        yield f"  module: {diagnosis.module}"
    if diagnosis.inputs:
        yield "  inputs:" if diagnosis.kind != OPTIMIZER else "  optimizer state:"
        yield from (f"    {shown_stats(stats)}" for stats in diagnosis.inputs)
    if diagnosis.output:
        yield f"    {shown_stats(diagnosis.output)}"
    yield from _batch(diagnosis)
    yield from _chain(diagnosis)
    yield from _parameters(diagnosis)
    yield from _history(diagnosis)
    yield from _static(diagnosis)
    if diagnosis.repro:
        yield f"  repro: python {shown_path(diagnosis.repro)}"
    yield from (f"  note: {note}" for note in diagnosis.notes)


def _code(diagnosis: Diagnosis) -> Iterator[str]:
    place = diagnosis.place
    if place is None:
        return
    yield f"  --> {place.shown} in {place.function}"
    yield from code_lines(place)
    callers = [caller for caller in diagnosis.places[1:] if not is_installed(caller.path)]
    for caller in callers[:3]:
        yield f"  called from {caller.shown} in {caller.function}: {caller.source}"


def code_lines(place: Place) -> list[str]:
    """The line with its neighbours, numbered, the line itself marked."""
    width = len(str(place.line + AROUND))
    rows = []
    for line in range(max(1, place.line - AROUND), place.line + AROUND + 1):
        text = linecache.getline(place.path, line).rstrip()
        if text or line == place.line:
            rows.append(f"  {'>' if line == place.line else ' '} {line:>{width}} | {text}")
    return rows


def shown_stats(stats: Stats) -> str:
    """`self: (16, 3) float32, [0, 1], mean 0.33, 27 zeros`."""
    parts = [f"{stats.name}: {stats.shape} {stats.dtype}"]
    if stats.device != "cpu":
        parts[0] += f" {stats.device}"
    if stats.low is not None:
        parts += [f"[{number(stats.low)}, {number(stats.high)}]", f"mean {number(stats.mean)}"]
    counts = ((stats.zeros, "zeros"), (stats.nan, "NaN"), (stats.above, "inf"), (stats.below, "-inf"))
    parts += [f"{amount:,} {word}" for amount, word in counts if amount]
    if stats.count == 0:
        parts.append("empty")
    return ", ".join(parts)


def _chain(diagnosis: Diagnosis) -> Iterator[str]:
    if len(diagnosis.chain) < 2:
        return
    links = diagnosis.chain
    yield "  from there:"
    for index, link in enumerate(links):
        if len(links) > SHOWN_LINKS and index == SHOWN_LINKS - 2:
            yield f"    ... {len(links) - SHOWN_LINKS + 1} more"
        if len(links) <= SHOWN_LINKS or index < SHOWN_LINKS - 2 or index == len(links) - 1:
            where = f" at {link.place.shown}" if link.place else ""
            yield f"    {link.operation.strip('_')}{' (backward)' if link.is_backward else ''}: {link.what}{where}"


def _batch(diagnosis: Diagnosis) -> Iterator[str]:
    """The tensors of which some rows stand out; the page has all."""
    told = [given for given in diagnosis.batch if given.rows]
    if told:
        yield "  batch:"
    yield from (f"    {given.stats.name}: {given.stats.shape}, {given.rows}" for given in told)
    if diagnosis.saved_batch:
        yield f"  saved batch: torch.load({diagnosis.saved_batch!r})"


def _parameters(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.parameters:
        yield "  nearest parameters:"
    for state in diagnosis.parameters:
        yield f"    {shown_stats(state.values)}"
        if state.gradient is not None:
            yield f"      {shown_stats(state.gradient)}"


def _history(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.history:
        return
    yield f"  last steps ({diagnosis.optimizer}):" if diagnosis.optimizer else "  last steps:"
    shown = diagnosis.history[-SHOWN_STEPS:]
    yield from (f"    {_reading(reading, updates=diagnosis.is_explosion)}" for reading in shown)


def _reading(reading: Reading, *, updates: bool) -> str:
    parts = [f"step {reading.step}: loss {number(reading.loss)}", f"gradient norm {number(reading.gradient_norm)}"]
    parts += [f"lr {number(reading.learning_rate)}"] if reading.learning_rate is not None else []
    parts += [f"loss scale {number(reading.scale)}"] if reading.scale is not None else []
    if updates and reading.ratios:
        parts.append(f"largest update {number(next(iter(reading.ratios.values())))} of the weight")
    return ", ".join(parts)


def _static(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.code:
        return
    same = diagnosis.finding_line in {0, diagnosis.place.line if diagnosis.place else 0}
    where = "" if same else f" (line {diagnosis.finding_line})"
    yield f"  rule: {diagnosis.code}{where}: {diagnosis.message}"
    yield f"        nanlint explain {diagnosis.code.split()[0]}"
    if diagnosis.diff:
        yield "  fix:"
        yield textwrap.indent(diagnosis.diff.rstrip("\n"), "    ")
    elif diagnosis.advice:
        yield "  instead, for example:"
        yield textwrap.indent(diagnosis.advice, "    ")
