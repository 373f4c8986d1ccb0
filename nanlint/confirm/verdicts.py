"""From the child's answers to a verdict, in words that say what was run, with what, and what came out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nanlint.confirm.composites import children, within
from nanlint.confirm.preconditions import broken_by
from nanlint.confirm.witness import Values
from nanlint.model.verdict import Plausibility, Verdict, VerdictKind

if TYPE_CHECKING:
    from nanlint.confirm.options import Options
    from nanlint.confirm.target import Target

Json = dict[str, Any]
_LONGEST = 120
"""Characters of one argument in a sentence; the witness itself is not shortened."""
_LONGEST_TEXT = 2000
"""Characters of anything that an answer says."""
_DEEPEST = 30
_SUMS = frozenset(
    {"mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "dot", "convolution", "sum", "mean", "cumsum", "prod"}
)
"""Operations whose result depends on the order and the format in which they add up."""
_CHOOSING = frozenset({"argmax", "argmin", "topk", "argsort", "sort"})
"""Operations that hide a NaN by choosing among others."""
_PLAIN_VALUES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("level", "dtype", "device", "reason"), (str,)),
    "seconds": (int, float),
    "evaluations": (int,),
}
"""What a report prints as it is; the answer may have been written by the user's code."""
_RESULTS = {"nan": "NaN", "inf": "Inf"}


def not_runnable(reason: str, *, level: str | None = None, seconds: float | None = None) -> Verdict:
    """The verdict on code that could not be run."""
    return Verdict(VerdictKind.NOT_RUNNABLE, reason=reason, level=level, seconds=seconds)


def bounded(verdict: Verdict) -> Verdict:
    """The verdict with texts that end: the user's code may have written them itself."""
    texts = {name: getattr(verdict, name) for name in ("reason", "level", "dtype", "device", "how")}
    changes: Json = {
        name: f"{text[:_LONGEST_TEXT]}…" for name, text in texts.items() if text and len(text) > _LONGEST_TEXT
    }
    if verdict.seconds is not None and not math.isfinite(verdict.seconds):
        changes["seconds"] = None
    return replace(verdict, **changes)


def of_answer(answer: Json, options: Options, target: Target) -> Verdict:  # noqa: PLR0911 - one for each kind
    """The verdict that an answer to a search gives; a confirmed one is still to be replayed."""
    if "died" in answer:
        return not_runnable(_with_output(answer))
    for key, kinds in _PLAIN_VALUES.items():
        if not isinstance(answer.get(key), (*kinds, type(None))):
            raise TypeError(f"{key} is a {type(answer[key]).__name__}")
    kind = VerdictKind(answer["kind"])
    common: Json = {
        "level": answer.get("level"),
        "seconds": answer.get("seconds"),
        "evaluations": answer.get("evaluations"),
        "dtype": answer.get("dtype"),
        "device": device_in_words(options, answer),
    }
    if kind is VerdictKind.NOT_RUNNABLE:
        return Verdict(kind, reason=_why_not(answer, target), level=answer.get("level"), seconds=answer.get("seconds"))
    if kind is VerdictKind.NOT_REPRODUCED:
        return Verdict(kind, reason=_not_seen(answer, target) + on_a_gpu(common["device"], answer), **common)
    case, hit = answer["case"], answer["hit"]
    grade = Plausibility(case["grade"])
    told: Json = {
        **common,
        "plausibility": grade,
        "direction": hit["direction"],
        "how": how(case),
        "witness": witness_json(case, hit),
    }
    if case.get("loop"):
        name = f"`{target.owners[0][1]}`" if target.owners else "the loop"
        driven = "driven with a fault" if case.get("fault", "loop") else "run for a few steps"
        return Verdict(kind, reason=f"{name}, {driven}: {_result(hit)}{_noted(answer)}", **told)
    if kind is VerdictKind.REACHABLE:
        return Verdict(kind, reason=_reachable(answer, target), **told)
    if grade is Plausibility.EXTREME or grade.rank > options.max_plausibility.rank:
        reason = f"it fails for {grade.value} values only: {_call(case, target)} gives {_result(hit)}"
        return Verdict(VerdictKind.NOT_REPRODUCED, reason=reason, **told)
    more = f"{_precondition(case, target)}{on_a_gpu(common['device'], answer)}{_noted(answer)}"
    return Verdict(kind, reason=f"{_call(case, target)} gives {_result(hit)}{more}", **told)


def device_in_words(options: Options, answer: Json) -> str:
    """Where it ran, and whether the semantics of another device were emulated."""
    device = str(answer.get("device", options.device))
    return f"{device} (CUDA autocast emulated)" if options.amp and device == "cpu" else device


def on_a_gpu(device: str, answer: Json) -> str:
    """What a GPU could do differently from the CPU that ran it; element by element it does the same."""
    if not device.startswith("cpu") or "case" not in answer:
        return ""
    hit = answer.get("hit") if answer["kind"] == VerdictKind.CONFIRMED.value else None
    if hit is not None:
        return "; a GPU may add it up otherwise" if hit["operation"].strip("_") in _SUMS else ""
    is_half = "emulated" in device or answer.get("dtype") in {"float16", "bfloat16"}
    kernels = "sums in half precision" if is_half else "TF32"
    return f"; a GPU's {kernels} and fused kernels were not run"


def how(case: Json) -> str:
    """The class of the witness."""
    if case.get("loop"):
        return "injected fault" if case.get("fault", "loop") else "as it is"
    if case.get("force"):
        return f"forced parameters: {case['force']}"
    if case.get("chance"):
        return f"input only, {case['chance']}"
    return str(case.get("how") or "input only")


def witness_json(case: Json, hit: Json) -> Json:
    """The witness as the report holds it: arguments by name, what was done before, and what came out."""
    return {
        "arguments": {name: plain(spec) for name, spec in case["call"].items()},
        "constructor": {name: plain(spec) for name, spec in case.get("ctor", {}).items()},
        "seed": case["seed"],
        "line": hit["line"],
        "operation": hit["operation"],
        "result": hit["result"],
    }


def plain(spec: Json, depth: int = 0) -> Any:
    """One argument as nested lists, or as what it is."""
    if depth > _DEEPEST:
        raise ValueError(f"an argument of more than {_DEEPEST} levels")
    if spec["kind"] == "tensor":
        if "values" not in spec:
            return {"shape": spec["shape"], "domain": spec["domain"]}
        return Values(tuple(spec["shape"]), tuple(spec["values"])).nested() if spec["values"] else []
    if spec["kind"] == "list":
        return [plain(item, depth + 1) for item in spec["items"]]
    if spec["kind"] in {"dict", "distribution", "object"}:
        return {label: plain(child, depth + 1) for label, child in children(spec)}
    return spec["value"] if spec["kind"] in {"value", "dtype"} else f"<{spec.get('name', spec['kind'])}>"


def _call(case: Json, target: Target) -> str:
    name = ".".join(part for _, part in target.owners)
    arguments = ", ".join(f"{key}={_short(plain(spec))}" for key, spec in case["call"].items())
    return f"`{name}({arguments})`"


def _short(thing: object) -> str:
    text = repr(thing)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _result(hit: Json) -> str:
    if hit["direction"] == "loop":
        return str(hit["result"])
    if hit["operation"] == "raises":
        return f"an error at line {hit['line']}: {hit['result']}"
    made = _RESULTS[hit["result"]]
    if hit.get("of") in _CHOOSING and hit["line"]:
        return f"{made}, made at line {hit['line']} ({hit['operation']}), among which {hit['of']} chooses"
    if hit.get("of") and hit["line"]:
        return f"{made} in the gradient of {hit['of'].strip('_')}, line {hit['line']}"
    where = f"at line {hit['line']} ({hit['operation']})" if hit["line"] else f"by {hit['operation']}"
    gradient = " in the gradient" if hit["direction"] == "backward" else ""
    return f"{made}{gradient}, made {where}"


def _noted(answer: Json) -> str:
    notes = answer.get("notes") or []
    return f" ({'; '.join(notes)})" if notes else ""


def _whole(answer: Json, target: Target) -> str:
    """Why only a slice was run."""
    if answer.get("level") == "slice" and not target.owners:
        return " (it is in no function, so a slice of the file was run)"
    reason = " ".join(str(answer.get("whole", "")).split())[:200]
    return f" (the whole function did not run: {reason})" if reason else ""


def _reachable(answer: Json, target: Target) -> str:
    case, hit, shown = answer["case"], answer["hit"], answer.get("shown", {})
    # What was given as it is, nobody doubts; where there are many, tensors tell the most.
    told = sorted(
        case["call"].items(), key=lambda named: named[1]["kind"] in {"value", "module", "config", "expression"}
    )
    values = [f"`{shown.get(name, name)}` can be {_short(plain(spec))}" for name, spec in told]
    more = f"{_precondition(case, target)}{_circumstances(answer)}{_whole(answer, target)}"
    return f"fails if {' and '.join(values[:3])}: {_result(hit)}{more}"


def _precondition(case: Json, target: Target) -> str:
    """What the documentation asks for and the witness does not respect."""
    broken = broken_by(target.documented, case["call"])
    return f"; breaks a documented precondition: {broken}" if broken else ""


def _circumstances(answer: Json) -> str:
    """How far from an ordinary call the run was."""
    case = answer.get("case", {})
    told = []
    if answer.get("shell"):
        told.append(f"`{answer['shell']}` was not constructed: it has the attributes that the method reads")
    specs = {**case.get("ctor", {}), **case.get("call", {})}
    stand_ins = [name for name, spec in specs.items() if any(inner["kind"] == "object" for _, inner in within(spec))]
    if stand_ins:
        told.append(f"stand-ins were given for {', '.join(f'`{name}`' for name in stand_ins[:3])}")
    if answer.get("internal"):
        told.append("it is called through `apply` alone, by code that may prepare its arguments")
    return f" ({'; '.join(told)})" if told else ""


def _not_seen(answer: Json, target: Target) -> str:
    told = f"{answer['evaluations']} evaluations at {answer['level']} level"
    other = f"; another failure was seen: {answer['reason']}" if answer.get("reason") else ""
    told += ", where the clock stopped it (--timeout)" if answer.get("is_cut") else ""
    return f"no failure of this line in {told}{other}{_circumstances(answer)}{_noted(answer)}{_whole(answer, target)}"


def _with_output(answer: Json) -> str:
    output = answer.get("output", "")
    return str(answer["died"]) + (f"; it printed: {_short(output)}" if output else "")


def _why_not(answer: Json, target: Target) -> str:
    blocked = answer.get("blocked") or []
    reason = " ".join(str(answer.get("reason") or "it could not be run").split())[:300]
    if blocked:
        reason += f"; the sandbox did not let it {blocked[0]}"
    suggest = hook_of_loop if answer.get("is_loop") else hook_for
    supply = f"; supply inputs: {suggest(target)}" if target.owners else ""
    return f"{reason}{_noted(answer)}{supply}"


def hook_of_loop(target: Target) -> str:
    """The hook to paste for a training loop, on one line."""
    name = target.owners[0][1]
    if target.owners[0][0] == "class":
        return f"def nanlint_inputs(): yield {name}(...), dict()  # for {target.name}"
    return f"def nanlint_inputs(): yield {name}, dict(model=..., optimizer=..., loader=...)  # for {target.name}"


def hook_for(target: Target) -> str:
    """The hook to paste, on one line."""
    names = [name for _, name in target.owners]
    if len(names) > 1 and target.owners[0][0] == "class":
        return f"def nanlint_inputs(): yield {names[0]}(...), dict(x=torch.randn(2, 5, 32))  # for {target.name}"
    return f"def nanlint_inputs(): yield {names[0]}, dict(x=torch.randn(2, 5))  # for {target.name}"
