"""The levels of a search: a whole function or module, on a supplied call or on arguments that were found, and the slice."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.composites import stands_in
from nanlint.confirm.worker import examples
from nanlint.confirm.worker.autocast import Emulation
from nanlint.confirm.worker.bench import Bench
from nanlint.confirm.worker.effort import affordable
from nanlint.confirm.worker.fit import Budget, Fit, fit, watched
from nanlint.confirm.worker.garbage import CODE, GarbageBench, judge_garbage
from nanlint.confirm.worker.number_corners import with_corners, with_ignored
from nanlint.confirm.worker.reduce import made_explicit, reduced
from nanlint.confirm.worker.search import Found, search
from nanlint.confirm.worker.shell import shell_of
from nanlint.confirm.worker.slices import shown, slice_of
from nanlint.confirm.worker.stages import cases
from nanlint.confirm.worker.subject import CannotRun
from nanlint.confirm.worker.values import ORDINARY

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanlint.confirm.worker.examples import Call
    from nanlint.confirm.worker.load import Loaded
    from nanlint.confirm.worker.subject import Subject

Json = dict[str, Any]
_RANDOM = ("rand", "uniform_", "noise", "gumbel", "bernoulli")


def bench_for(subject: Subject, job: Json) -> Bench:
    """A bench on the job's device, with mixed precision if it asks for that."""
    amp = getattr(torch, job["amp"]) if job.get("amp") else None
    around: Callable[[], Any] | None = None
    if job["code"] == CODE:
        return GarbageBench(subject, job["target"]["path"], target=job["target"])
    if amp is not None and job["device"] == "cpu":
        around = lambda: Emulation(amp)  # noqa: E731 - a context per run
    elif amp is not None:
        around = lambda: torch.autocast(job["device"].partition(":")[0], dtype=amp)  # noqa: E731 - same
    return Bench(subject, job["target"]["path"], amp=around)


def _base(job: Json, dtype: str) -> Json:
    given = job.get("given", {})
    base = {"ctor": given.get("ctor", {}), "call": given.get("call", {}), "seed": job["seed"], "dtype": dtype}
    base |= {"halved": True} if job.get("halved") else {}
    return {**base, "shell": True} if job.get("shell") else base


def _end(job: Json, share: float) -> float:
    """The time at which the clock kills what may take this share of what is left; the machine decides nothing else."""
    now = time.monotonic()
    return now + share * max(0.5, float(job.get("until", now + job["timeout"])) - now)


def on_subject(subject: Subject, job: Json, dtype: str) -> Json:
    """The answer for a function or a module in one dtype: calls that somebody wrote down first, then found ones."""
    common: Json = {"level": subject.level, "dtype": dtype}
    for number, call in enumerate([*examples.supplied(subject, job["target"]), *examples.documented(subject)]):
        answer = _on_call(subject, call, {**_base(job, dtype), "captured": number}, job)
        if answer is not None:
            return answer | common
    bench = bench_for(subject, job)
    fitted: Fit = fit(bench, job["target"], _base(job, dtype), Budget(job["fit_tries"], _end(job, 0.5)))
    common |= {"fit_tries": fitted.tries}
    if fitted.case is None:
        return {"kind": "not-runnable", "reason": f"no arguments were found: {fitted.error}", **common}
    if not fitted.reached:
        reason = "it runs, but no arguments were found that reach the flagged line"
        return {"kind": "not-runnable", "reason": reason, "ran": True, **common}
    answer = _searched(bench, fitted.case, job) | common
    return _only_reachable(answer) | {"internal": True} if subject.internal else answer


def _on_call(subject: Subject, call: Call, base: Json, job: Json) -> Json | None:
    """The answer for a call that somebody wrote down; None if it does not run through the flagged line."""
    bench = bench_for(subject, job)
    bench.captured = call
    case = {**base, "call": call.specs()}
    outcome, watch = watched(bench, case, job["target"])
    if not watch.reached or (outcome.error and not outcome.refused):
        return None
    return _searched(bench, case, job) | {"inputs": call.source}


def _searched(bench: Bench, case: Json, job: Json) -> Json:
    """Search from a case that runs through the flagged line."""
    owner = bench.subject.owner
    case = {**case, "owner": owner.__name__ if owner is not None else ""}
    answer: Json = {"reached": True, "evaluations": bench.evaluations, "case": case}
    if job["code"] == CODE:
        hit, _ = judge_garbage(bench, case, job["target"])
        seen = {"hit": hit.to_json(), "case": made_explicit(case) | {"grade": ORDINARY}} if hit is not None else {}
        return {**answer, "kind": "confirmed" if seen else "not-reproduced", "reason": "", **seen}
    evaluations = affordable(bench, case, job["evaluations"])
    found = _search(bench, case, {**job, "evaluations": evaluations})
    if found.case is None or found.hit is None:
        told = {"reason": found.other, "evaluations": bench.evaluations, "is_cut": found.is_cut}
        return {**answer, "kind": "not-reproduced", **told}
    # A step of the shrinking takes two runs, one of them traced.
    tries = min(job["shrink_tries"], evaluations // 3)
    smallest = reduced(bench, found.case, found.hit, job["target"], (tries, _end(job, 0.6)))
    guessed = any(stands_in(spec) for spec in [*smallest["call"].values(), *smallest["ctor"].values()])
    return {
        **answer,
        "kind": "reachable" if guessed else "confirmed",
        "case": smallest,
        "hit": found.hit.to_json(),
        "evaluations": bench.evaluations,
    }


def on_shell(subject: Subject, job: Json) -> Json:
    """The method of a subject on an object that was not constructed; reachable at most."""
    try:
        shell = shell_of(subject)
    except (CannotRun, SyntaxError) as error:
        return {"kind": "not-runnable", "reason": str(error)}
    answer: Json = {}
    for dtype in job["dtypes"]:
        answer = _only_reachable(on_subject(shell, {**job, "shell": True}, dtype)) | {
            "shell": subject.owner.__name__ if subject.owner else ""
        }
        if answer["kind"] == "reachable" or not answer.get("reached"):
            break
    return answer


def _only_reachable(answer: Json) -> Json:
    """A failure that rests on values which nobody vouches for."""
    return {**answer, "kind": "reachable"} if answer["kind"] == "confirmed" else answer


def on_slice(loaded: Loaded, job: Json) -> Json:
    """The slice around the flagged statement, or if that cannot run the statement alone; reachable at most."""
    answer: Json = {}
    for alone in (False, True):
        try:
            subject = slice_of(loaded.module, job["target"], alone=alone)
        except (CannotRun, SyntaxError) as error:
            return {"kind": "not-runnable", "reason": str(error)}
        answer = _on_one_slice(subject, job)
        if answer["kind"] != "not-runnable":
            return {**answer, "alone": alone}
    return answer


def _on_one_slice(subject: Subject, job: Json) -> Json:
    answer: Json = {}
    for dtype in job["dtypes"]:
        bench = bench_for(subject, job)
        begin = _base(job, dtype) | {"ctor": {}, "call": {}}
        fitted = fit(bench, job["target"], begin, Budget(150, _end(job, 0.5)))
        if not fitted.reached or fitted.case is None:
            return {"kind": "not-runnable", "reason": f"no arguments were found: {fitted.error}", "level": "slice"}
        answer = _searched(bench, fitted.case, job) | {"level": "slice", "dtype": dtype}
        if answer["kind"] in {"confirmed", "reachable"}:
            names = {name: shown(name) for name in answer["case"]["call"]}
            return {**answer, "kind": "reachable", "shown": names}
    return answer


def _search(bench: Bench, case: Json, job: Json) -> Found:
    target, subject = job["target"], bench.subject
    hazard = target.get("hazard") or {}
    few = "element" in hazard.get("zone", "")
    instance = bench.kept.get("built") if subject.is_module else None
    mild = case["dtype"] in {"float16", "bfloat16"} and "float32" in job["dtypes"]
    random = any(word in subject.calling.source for word in _RANDOM)
    proposed = cases(
        {
            **with_ignored(with_corners(case, bench, hazard.get("operand", "")), subject),
            "few": few,
            "mild": mild,
            "extreme": job.get("extreme", False),
        },
        module=instance,
        operand=hazard.get("operand", ""),
        random=random,
    )
    return search(bench, proposed, target, evaluations=job["evaluations"], until=_end(job, 0.6))
