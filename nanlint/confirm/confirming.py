"""Findings in, verdicts out: search, replay in a fresh process, check the fix, save the proof; several at a time."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nanlint.confirm.given import given_for
from nanlint.confirm.harness import CPU, Harness
from nanlint.confirm.options import HALVES, LOCAL
from nanlint.confirm.repro import is_plain, save, seen_in
from nanlint.confirm.sources import NothingToRun, source_of
from nanlint.confirm.target import target_of
from nanlint.confirm.verdicts import bounded, not_runnable, of_answer
from nanlint.model import Span
from nanlint.model.verdict import VerdictKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from nanlint.confirm.on_ray import RayHarness
    from nanlint.confirm.options import Options
    from nanlint.confirm.sources import Source
    from nanlint.confirm.target import Target
    from nanlint.model import Finding
    from nanlint.model.verdict import Verdict

Json = dict[str, Any]
NOTHING_TO_RUN = {
    "NAN206": "a bound without effect changes no value, so nothing breaks at it",
    "NAN602": "it is about settings that contradict each other, not about a computation",
    "NAN603": "it is about the value of a setting, not about a computation",
    "NAN604": "the result is finite; that it is the diagonal, only its author can call wrong",
}
"""Rules whose findings name no failure that a run could show."""


def likelihood(finding: Finding) -> tuple[float, float, float]:
    """A key by which the likeliest findings come first: those that matter, those that can happen."""
    return -(finding.matters or 0.0), _SEVERITIES[finding.severity.value], -(finding.can_happen or 0.0)


_SEVERITIES = {"error": 0, "warning": 1, "info": 2}


def _no_inputs(_: str) -> Mapping[str, Mapping[str, Any]]:
    return {}


def _unknown(_: str) -> bool:
    return True


def _no_fix(_: Finding, __: str) -> str | None:
    return None


def _gathered(
    futures: Mapping[Future[Verdict | None], int],
    findings: Sequence[Finding],
    progress: Callable[[Finding, int], None] | None,
) -> dict[int, Finding]:
    """The findings with their verdicts by their places, told one by one as they come."""
    done: dict[int, Finding] = {}
    for future in as_completed(futures):
        place = futures[future]
        verdict = future.result()
        if verdict is None:
            # The budget was used up before its turn.
            done[place] = findings[place]
            continue
        done[place] = replace(findings[place], verdict=verdict)
        if progress is not None:
            progress(done[place], len(done))
    return done


@dataclass
class Confirmer:
    """Confirms findings, with what the command line supplies: options, settings, and how a fix is applied."""

    options: Options
    jobs: int = 1
    """Findings at a time; 0 for two on the CPU, or one per GPU."""
    inputs_for: Callable[[str], Mapping[str, Mapping[str, Any]]] = _no_inputs
    """The confirm tables of the settings that hold for a path."""
    fixed: Callable[[Finding, str], str | None] = _no_fix
    """The text of the file with the finding's fix applied; None if there is none to apply."""
    uses_half: Callable[[str], bool] = _unknown
    """Whether the project of a path uses float16 or bfloat16; True where nobody knows."""
    save_to: str = ""
    devices: list[str] = field(default_factory=list)
    lines: Counter[tuple[str, int | None, int]] = field(default_factory=Counter)
    """How many findings a line has: where there are two, one fix alone may mend nothing."""
    harness: Harness | None = None
    """A harness that is running already and stays so; None to start one for each run."""

    def confirm(
        self, findings: Sequence[Finding], progress: Callable[[Finding, int], None] | None = None
    ) -> list[Finding]:
        """The findings, in the same order, each with its verdict; those that the budget does not last for have none."""
        self.lines = Counter(map(_line, findings))
        until = time.monotonic() + 60 * self.options.budget
        with contextlib.nullcontext(self.harness) if self.harness is not None else self._started() as harness:
            runs = any(finding.code not in NOTHING_TO_RUN for finding in findings)
            self.devices = harness.devices(self.options.device) if runs else [CPU]
            with ThreadPoolExecutor(max_workers=self.jobs or harness.at_a_time(self.devices)) as pool:
                order = sorted(range(len(findings)), key=lambda place: likelihood(findings[place]))
                futures = {pool.submit(self._in_time, harness, findings[place], place, until): place for place in order}
                try:
                    done = _gathered(futures, findings, progress)
                except BaseException:
                    for future in futures:
                        future.cancel()
                    harness.stop()
                    raise
        return [done[place] for place in range(len(findings))]

    def _started(self) -> Harness | RayHarness:
        """Child processes of this machine, or of those of a cluster."""
        if self.options.executor == LOCAL:
            return Harness()
        from nanlint.confirm.on_ray import RayHarness  # noqa: PLC0415 - an extra

        return RayHarness(self.options.executor if "://" in self.options.executor else "")

    def _in_time(self, harness: Harness | RayHarness, finding: Finding, place: int, until: float) -> Verdict | None:
        """The verdict on one finding; None if there is no time left to begin."""
        if time.monotonic() > until and finding.code not in NOTHING_TO_RUN:
            return None
        return self._one(harness, finding, place)

    def _one(self, harness: Harness | RayHarness, finding: Finding, place: int) -> Verdict:
        """The verdict on one finding; a broken file is one verdict, too."""
        if finding.code in NOTHING_TO_RUN:
            return not_runnable(NOTHING_TO_RUN[finding.code])
        try:
            source = source_of(finding)
        except NothingToRun as error:
            return not_runnable(str(error))
        halves = bool(self.options.dtype or self.options.amp) or self.uses_half(finding.path)
        options = replace(self.options, device=self.devices[place % len(self.devices)], halves=halves)
        try:
            verdict = source.told(_Case(self, harness, finding, source, options).verdict())
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError) as error:
            # The border to the child: the user's code can write an answer itself.
            verdict = not_runnable(f"the child's answer makes no sense: {type(error).__name__}: {error}")
        return bounded(verdict)


@dataclass
class _Case:
    """One finding on its way to a verdict."""

    confirmer: Confirmer
    harness: Harness | RayHarness
    told: Finding
    """The finding as the user reads it; in a notebook its lines are those of a cell."""
    source: Source
    options: Options

    @property
    def finding(self) -> Finding:
        """The finding in the text that is run."""
        return self.source.finding

    @property
    def target(self) -> Target:
        """What is run."""
        return self.source.target

    def verdict(self) -> Verdict:
        """Search, replay, check the fix, save."""
        job = self.options.job("search", self.target, self.finding)
        job["given"] = given_for(self.target.name, self.confirmer.inputs_for(self.finding.path))
        answer = self.harness.ask(job)
        if "died" in answer and self.target.owners:
            # The whole function takes the process down; its slice may not.
            died = answer
            answer = self.harness.ask({**job, "level": "slice"})
            answer = {**answer, "whole": died["died"]} if answer.get("kind") == "reachable" else died
        verdict = replace(of_answer(answer, self.options, self.target), walls=tuple(answer.get("walls", ())))
        if verdict.kind not in {VerdictKind.CONFIRMED, VerdictKind.REACHABLE}:
            return verdict
        again = self._replay(answer)
        if again.get("hit") != answer["hit"]:
            reason = f"{verdict.reason}; a replay in a fresh process gave {_outcome(again)}"
            return replace(verdict, kind=VerdictKind.FLAKY, reason=reason)
        if verdict.dtype in HALVES and not self.options.halves:
            reason = f"in {verdict.dtype}, which nothing in the project uses: {verdict.reason}"
            return replace(verdict, kind=VerdictKind.REACHABLE, reason=reason)
        if verdict.kind is VerdictKind.CONFIRMED:
            verdict = self._with_fix(verdict, answer)
            if self.confirmer.save_to:
                verdict = self._with_proof(verdict, {**answer, "guessed": again.get("adapted", False)})
        return verdict

    def _with_proof(self, verdict: Verdict, answer: Json) -> Verdict:
        """The verdict with the path of its proof; a disk that is full costs the proof, not the run."""
        try:
            return replace(verdict, repro=self._saved(answer))
        except OSError as error:
            if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
                raise
            return replace(verdict, reason=f"{verdict.reason}; the proof was not saved: {error.strerror}")

    def _saved(self, answer: Json) -> str:
        """The path of the saved proof, which was seen to fail: if the plain form does not, the case is replayed."""
        options, seen = self.options, self.source.in_cells(seen_in(answer))
        answer = {**answer, "device": options.device, "amp": options.amp, "flush": options.flush}
        path = save(self.confirmer.save_to, self.told, self.target, answer, seen)
        if is_plain(answer, self.target):
            job = {"do": "proof", "path": os.path.abspath(path), "device": "cpu", "timeout": options.timeout}  # noqa: PTH100 - a string for the worker
            if self.harness.ask(job).get("finite") is not False:
                path = save(self.confirmer.save_to, self.told, self.target, {**answer, "guessed": True}, seen)
        return path

    def _replay(self, answer: Json, text: str | None = None) -> Json:
        target = self.target if text is None else self._moved_target(text)
        job = self.options.job("replay", target, self.finding) | {"around": text is not None}
        told = {"case": answer["case"], "level": answer["level"], "alone": answer.get("alone", False), "text": text}
        return self.harness.ask({**job, **told})

    def _moved_target(self, text: str) -> Target:
        """The flagged statement in the fixed text: what the fix inserts above moves it down."""
        edits = self.finding.fix.edits if self.finding.fix is not None else ()
        above = [edit for edit in edits if edit.span.end_line < self.finding.span.line]
        down = sum(edit.text.count("\n") - (edit.span.end_line - edit.span.line) for edit in above)
        line = self.finding.span.line + down
        try:
            moved = target_of(replace(self.finding, span=Span(line, 1, line, 1)), text, self.target.path)
        except (SyntaxError, ValueError):
            return self.target
        return replace(self.target, first=moved.first, last=moved.last, also=moved.also)

    def _with_fix(self, verdict: Verdict, answer: Json) -> Verdict:
        """Whether the offered fix mends what was seen."""
        text = self.confirmer.fixed(self.finding, self.source.text)
        if text is None:
            return verdict
        again = self._replay(answer, text)
        if again.get("kind") != "replayed" or again.get("error"):
            return verdict
        if again["bad"] and (self._is_one_of_several() or again.get("hit") is None):
            # What breaks now is another line, or waits for another fix.
            return verdict
        return replace(verdict, fix_verified=not again["bad"] and not again.get("around"))

    def _is_one_of_several(self) -> bool:
        """Whether this fix alone may mend nothing: others are offered on its line, or parts of it for other cells."""
        edits = self.finding.fix.edits if self.finding.fix is not None else ()
        return self.confirmer.lines[_line(self.told)] > 1 or (self.source.notebook is not None and len(edits) > 1)


def _line(finding: Finding) -> tuple[str, int | None, int]:
    return finding.path, finding.cell, finding.span.line


def _outcome(answer: Json) -> str:
    if "died" in answer:
        return str(answer["died"])
    return str(answer.get("error") or ("another failure" if answer.get("bad") else "a finite result"))
