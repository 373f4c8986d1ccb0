"""Drive a script: find data with which it runs, strike it with each fault of the rule, and tell the harm.

The first runs have no fault: complaints about shapes change the recipe until the flagged line is run several times. The
order of events of that run says which forward to strike.
"""

from __future__ import annotations

import contextlib
import heapq
import io
import json
import math
import random
import re
import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.worker.answers import by_complaint, is_about_shapes
from nanlint.confirm.worker.complaints import complaint
from nanlint.confirm.worker.lenient import Interrupted
from nanlint.confirm.worker.load import alarm, source_text
from nanlint.confirm.worker.moves import aligned, reshaped
from nanlint.confirm.worker.subject import CannotRun
from nanlint.confirm.worker.training import frameworks
from nanlint.confirm.worker.training.entries import (
    SUPPLIED,
    asked_for,
    call,
    call_supplied,
    calls_for,
    forget,
    hooks_for,
    run_script,
    scripts_for,
)
from nanlint.confirm.worker.training.harms import HARMS, RESUMES
from nanlint.confirm.worker.training.loaded import states_that_load
from nanlint.confirm.worker.training.log import FLAGGED, Enough, Log
from nanlint.confirm.worker.training.patches import Fault, watched
from nanlint.confirm.worker.training.recipes import recipe_for
from nanlint.confirm.worker.training.unbuilt import NotBuilt
from nanlint.confirm.worker.training.world import surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
_TRIES = 60
"""Runs without a fault that a search for data may take."""
_MOST_MOVES = 12
_SQUARES = (28, 32, 64, 8, 96, 224)
"""Sides of pictures that networks are built for."""
_LONGEST = 60
"""Seconds that one run may take where nobody is waiting for others."""
_MISSING = {
    "missing": r"'\w+' object has no attribute '(\w+)'",
    "globals": r"NameError: name '(\w+)' is not defined",
}
"""What a recipe calls the things that a complaint misses."""
AT = 2
"""The run of the flagged line that is struck; they count from 0."""
_NOT_RUN_WHEN_WELL = frozenset({"NAN406", "NAN407"})
"""Rules whose line is run only when something is wrong."""
_ABOUT_THE_REST = frozenset({"NAN605"})
"""Rules about the last batch of an epoch."""
_RAISING = frozenset({"NAN408", "NAN605"})
"""Rules whose harm may be that the loop raises."""
_ABOUT_BOUNDS = frozenset({"NAN401"})
"""Rules about a bound that the settings may lack."""


def drive_script(job: Json, name: str) -> Json:
    """The answer about a loop that a script of the project runs; CannotRun if none leads there."""
    until = time.monotonic() + 0.7 * job["timeout"]
    problem = "no file of the project leads to it when it is run as a script"
    case = job.get("case")
    target = job["target"]
    ways = [*hooks_for(target), *scripts_for(target), *calls_for(target)]
    ways = [case["script"]] if case is not None else ways
    for place, path in enumerate(ways):
        now = time.monotonic()
        recipe, log, problem = _fitted(job, path, now + (until - now) / (len(ways) - place))
        if recipe is not None and log is not None:
            told = _struck(job, name, {"script": path, "recipe": recipe}, log)
            if told["harm"] is None and name in _ABOUT_BOUNDS and case is None:
                unset = {"script": path, "recipe": {**recipe, "unset": True}}
                told = _struck(job, name, unset, _run(job, unset, Fault()))
            return told
    raise CannotRun(f"the loop could not be driven: {problem}")


def _fitted(job: Json, path: str, until: float) -> tuple[Json | None, Log | None, str]:
    """A recipe with which the script comes to the flagged line, and what happened then; else why it does not."""
    if "case" in job:
        recipe = job["case"]["recipe"]
        return recipe, _run(job, job["case"], Fault()), ""
    own = source_text(job["target"]["path"])
    texts = list(dict.fromkeys([source_text(path) if path.endswith(".py") else own, own]))
    asked = [] if path.endswith(".py") else asked_for(path, job["target"])
    first = {**recipe_for(texts, asked), "resumes": job["code"] in RESUMES, "rest": job["code"] in _ABOUT_THE_REST}
    queue, seen, problem = [(0, 0, first)], {json.dumps(first, sort_keys=True)}, "it does not come to the flagged line"
    for number in range(_TRIES):
        if not queue or time.monotonic() > until:
            break
        recipe = heapq.heappop(queue)[-1]
        log = _run(job, {"script": path, "recipe": recipe}, Fault(), until)
        if _is_enough(log, job["code"]):
            return recipe, log, ""
        if log.error is None:
            broken = any(not entry.more["finite"] for entry in log.of("stepped"))
            problem = "its weights are not finite even without a fault" if broken else problem
        else:
            problem = f"{type(log.error).__name__}: {log.error}"
        moves = _moves(recipe, log.error) if log.error is not None else [{**recipe, "unset": True}]
        moved = [one for one in moves if json.dumps(one, sort_keys=True) not in seen]
        seen |= {json.dumps(one, sort_keys=True) for one in moved}
        for place, one in enumerate(moved[:_MOST_MOVES]):
            # From what came furthest, in the order of the answers.
            heapq.heappush(queue, (place - 10 * len(log.lines), number * _MOST_MOVES + place, one))
    return None, None, problem


def _is_enough(log: Log, code: str) -> bool:
    """Whether a run without a fault says something: it came to the line, or to steps where the line is for bad ones."""
    if any(not entry.more["finite"] for entry in log.of("stepped")):
        return False
    if code in _NOT_RUN_WHEN_WELL:
        return len(log.of("backward")) > AT and log.error is None
    # What fails once something was restored has shown what is restored.
    if log.error is not None and code in _RAISING:
        return HARMS[code][1](log, Fault()) is not None
    return log.reached and (log.error is None or (code in RESUMES and bool(log.of("restored"))))


def _moves(recipe: Json, error: BaseException) -> Iterator[Json]:
    text = complaint(error)
    for word, pattern in _MISSING.items():
        missing = re.search(pattern, text)
        if missing is not None and missing[1] not in recipe.get(word, ()):
            yield {**recipe, word: [*recipe.get(word, ()), missing[1]]}
    if isinstance(error, NotBuilt):
        yield {**recipe, "unbuilt": True}
    product = re.search(r"cannot be multiplied \(\d+x\d+ and (\d+)x\d+\)", text)
    for picture in _pictures(int(product[1])) if product is not None else ():
        yield reshaped(recipe, partial(_pictured, picture))
    yield from by_complaint(recipe, text)
    if is_about_shapes(text):
        yield from aligned(recipe)


def _pictures(inputs: int) -> Iterator[list[int]]:
    """Channels and sides of pictures that a layer with so many inputs may be built for; no channels leaves those there are."""
    for channels in (1, 3):
        side = math.isqrt(inputs // channels)
        if channels * side * side == inputs:
            yield [channels, side, side]
    yield from ([side, side] for side in _SQUARES)


def _pictured(picture: list[int], _: str, shape: list[int]) -> list[int]:
    return [*shape[: 4 - len(picture)], *picture] if len(shape) == 4 else shape


def _run(job: Json, case: Json, fault: Fault, until: float = math.inf, partner: Log | None = None) -> Log:
    """One run of the script; whatever it raises is part of what happened, and a search for data ends it in time."""
    target, path, recipe = job["target"], case["script"], case["recipe"]
    log = Log(target["path"], path, target["first"], target["last"], partner=partner)
    forget(target)
    served = frameworks.install(recipe)
    torch.manual_seed(job["seed"])
    random.seed(job["seed"])
    printed = io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(contextlib.redirect_stdout(printed))
        replaced = stack.enter_context(surroundings(job, recipe, log))
        stack.enter_context(states_that_load(log))
        stack.enter_context(watched(log, fault))
        try:
            with log, alarm(1 + int(min(until - time.monotonic(), _LONGEST))):
                log.note("returned", thing=_begin(path, target, recipe, replaced))
        except Enough:
            pass
        except (Exception, SystemExit, KeyboardInterrupt, Interrupted) as error:  # noqa: BLE001 - whatever the script raises is what it does
            log.error = error
    log.printed = printed.getvalue()
    log.note("world", replaced=replaced, served=served)
    return log


def _begin(path: str, target: Json, recipe: Json, replaced: list[str]) -> object:
    """Run the script, or call what is named; what the call returns."""
    if path.endswith(".py"):
        run_script(path)
        return None
    if path == SUPPLIED:
        call_supplied(target)
        return None
    guessed: list[str] = []
    try:
        return call(path, target, recipe, guessed)
    finally:
        replaced += [f"argument `{name}`" for name in guessed]


def _forward_to_strike(log: Log) -> int:
    """The last forward before the flagged line is run for the third time; before a backward if it is run less often."""
    anchors = [place for place, entry in enumerate(log.entries) if entry.kind == FLAGGED]
    if len(anchors) <= 1:
        backwards = [place for place, entry in enumerate(log.entries) if entry.kind == "backward"]
        anchors = anchors or backwards
    anchor = anchors[min(AT, len(anchors) - 1)]
    before = [entry.more["number"] for entry in log.entries[:anchor] if entry.kind == "forward"]
    return int(before[-1]) if before else 0


def _struck(job: Json, name: str, case: Json, clean: Log) -> Json:
    """Strike the script with each fault until one does harm."""
    faults, harm_of = HARMS[name]
    at = _forward_to_strike(clean)
    usual = next((one.more["before" if one.kind == "clip" else "norm"] for one in clean.of("clip", "step")), 1.0)
    common = {"made_up": _made_up(clean), "evaluations": len(faults) + 1, **case}
    for fault in faults:
        times = fault.times / max(usual, 1e-6) if "norm" in fault.words else fault.times
        chosen = Fault(at if fault.words else -1, fault.added, times, fault.words)
        log = _run(job, case, chosen, partner=clean) if fault.words else clean
        log.clean = clean
        log.other = _run(job, case, Fault(), partner=log) if log.of("all_reduce") else clean
        harm = harm_of(log, chosen)
        if harm is not None:
            return {"harm": harm, "fault": fault.words, **common}
    return {"harm": None, **common}


def _made_up(log: Log) -> list[str]:
    world = log.of("world")[-1].more
    told = list(dict.fromkeys(world["replaced"]))[:4]
    return [f"made up for this run: {', '.join(told)}"] if told else []
