"""One job: search for a witness, or replay one. Everything that goes wrong becomes part of the answer.

The levels come in the order of their faithfulness: calls that somebody supplied, the module or function itself with
arguments that were found, and the slice around the flagged expression when nothing else reaches the flagged line.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import runpy
import time
import traceback
from typing import TYPE_CHECKING, Any

import torch

from nanlint.confirm.worker import examples, one_process, placement, removed_names
from nanlint.confirm.worker.autocast import emulate
from nanlint.confirm.worker.garbage import CODE, judge_garbage
from nanlint.confirm.worker.levels import bench_for, on_shell, on_slice, on_subject
from nanlint.confirm.worker.load import CannotLoad, Loaded, load, source_text
from nanlint.confirm.worker.search import judge
from nanlint.confirm.worker.shell import shell_of
from nanlint.confirm.worker.slices import slice_of
from nanlint.confirm.worker.stages import corners
from nanlint.confirm.worker.subject import CannotRun, Subject, subjects_of
from nanlint.confirm.worker.training.driving import drive_script
from nanlint.confirm.worker.training.entries import SUPPLIED, loop_at
from nanlint.confirm.worker.training.harms import HARMS, harm_of
from nanlint.confirm.worker.values import EDGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanlint.confirm.worker.bench import Bench

Json = dict[str, Any]


def answer_to(job: Json, *, no_device: str = "") -> Json:
    """The answer to one job, on the CPU where its device could not be opened; never raises."""
    if no_device:
        answer = answer_to({**job, "device": placement.CPU})
        told = f"{job['device']} did not start behind the walls ({no_device}): run on the CPU"
        return {**answer, "notes": [*answer.get("notes", []), told], "device": placement.CPU}
    begun = time.monotonic()
    torch.set_num_threads(1)
    try:
        answer = {"search": find, "replay": replay, "proof": proof, "devices": devices}[job["do"]](job)
    except (CannotLoad, CannotRun) as error:
        answer = {"kind": "not-runnable", "reason": str(error), "is_loop": job.get("code") in HARMS}
    except Exception as error:  # noqa: BLE001 - the border to the user's code
        told = traceback.format_exc(limit=-4)
        answer = {"kind": "not-runnable", "reason": f"{type(error).__name__}: {error}", "trace": told}
    if groups := one_process.notes():
        answer["notes"] = [*answer.get("notes", []), *groups]
    return {**answer, "seconds": round(time.monotonic() - begun, 3)}


def devices(job: Json) -> Json:
    """What torch can run on here, the CPU included."""
    del job
    found = [f"cuda:{number}" for number in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    found += ["mps"] if torch.backends.mps.is_available() else []
    return {"devices": [*found, "cpu"]}


def _loaded(job: Json) -> Loaded:
    placement.use(job["device"])
    if job["device"] == placement.CPU:
        emulate()
    if job.get("flush"):
        torch.set_flush_denormal(True)
    one_process.stand_by()
    removed_names.restore()
    path, text = job["target"]["path"], job.get("text")
    if path.lower().endswith(".ipynb"):
        text = _in_a_kernel(path, text)
    loaded = load(job["target"], text)
    job["target"]["function_lines"] = _first_lines(job["target"])
    owners = job["target"]["owners"]
    if job.get("code") == CODE and owners[-1:] == [["def", "__init__"]]:
        # What a constructor leaves in a parameter is used by the forward.
        owners[-1] = ["def", "forward"]
    return loaded


def _in_a_kernel(path: str, text: str | None) -> str:
    """The joined cells of a notebook, or the text that stands for them; what IPython defines everywhere is there."""
    from nanlint.source.notebooks.notebook import Notebook  # noqa: PLC0415 - for notebooks only

    builtins.display = print  # type: ignore[attr-defined] # as in IPython
    builtins.get_ipython = lambda: None  # type: ignore[attr-defined] # same
    if text is not None:
        return text
    with open(path, "rb") as file:  # noqa: PTH123 - no pathlib in the child
        return Notebook.parse(file.read(), path, is_tried=True).text


def _first_lines(target: Json) -> list[int]:
    """The lines at which the functions around the target begin, decorators included."""
    tree = ast.parse(source_text(target["path"]))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, kinds) and node.lineno <= target["last"] <= (node.end_lineno or 0)
    ]
    starts = {node.lineno for node in around}
    return sorted(starts | {decorator.lineno for node in around for decorator in node.decorator_list})


def find(job: Json) -> Json:
    """Search; a device that is full gets tensors of half the size, then the CPU does it, and the answer says so."""
    answer = _found(job)
    device = job["device"]
    if device == placement.CPU or not placement.is_out_of_memory(str(answer.get("reason", ""))):
        return answer
    torch.cuda.empty_cache()
    answer = _found({**job, "halved": True})
    if not placement.is_out_of_memory(str(answer.get("reason", ""))):
        return {**answer, "notes": [*answer.get("notes", []), f"{device} was full: run with half the sizes"]}
    answer = _found({**job, "device": placement.CPU})
    notes = [*answer.get("notes", []), f"{device} was full: run on the CPU"]
    return {**answer, "notes": notes, "device": placement.CPU}


def _found(job: Json) -> Json:
    """Search on every level and in every dtype until something breaks."""
    # The rest of the time is for the answer, and for a machine that does other things as well.
    job["until"] = time.monotonic() + 0.7 * job["timeout"]
    loaded = _loaded(job)
    if job["code"] in HARMS:
        return _on_loop(loaded, job)
    notes = [*loaded.notes, *([f"stand-ins for {', '.join(loaded.stubbed)}"] if loaded.stubbed else [])]
    begun = time.process_time()
    answers: list[Json] = []
    for answer in _answers(loaded, job):
        answer |= {"search_seconds": round(time.process_time() - begun, 4), "notes": notes}
        if answer.get("level") == "slice" and answers:
            answer["whole"] = answers[-1].get("reason", "")
        if answer["kind"] in {"confirmed", "reachable"}:
            return answer
        answers.append(answer)
    return max(answers, key=_faithfulness)


def _on_loop(loaded: Loaded, job: Json) -> Json:
    """A finding about the loop: faults are injected, and the harm is told."""
    owners = job["target"]["owners"]
    begun = time.monotonic()
    lines = source_text(job["target"]["path"]).splitlines()
    name = job["case"]["proof"] if "case" in job else harm_of(job["code"], lines, job["target"])
    told = _driven(loaded, job, name)
    harm, script = told["harm"], told["script"]
    level = "script" if script.endswith((".py", SUPPLIED)) else "function" if owners else "slice"
    seconds = round(time.monotonic() - begun, 4)
    common = {"level": level, "dtype": "float32", "search_seconds": seconds}
    stubbed = [f"stand-ins for {', '.join(loaded.stubbed)}"] if loaded.stubbed else []
    common |= {"notes": [*stubbed, *told["made_up"]]}
    common |= {"evaluations": told["evaluations"], "reached": True}
    if harm is None:
        return {"kind": "not-reproduced", "reason": "", **common}
    hit = {"operation": "loop", "line": job["target"]["first"], "result": harm, "direction": "loop"}
    case = {
        "ctor": {},
        "call": {},
        "seed": job["seed"],
        "dtype": "float32",
        "grade": "edge",
        "loop": True,
        "proof": name,
        "script": script,
        "recipe": told["recipe"],
        "fault": told["fault"],
    }
    is_guessed = any("argument `" in note for note in told["made_up"])
    kind = "reachable" if is_guessed or level == "slice" else "confirmed"
    return {"kind": kind, "case": case, "hit": hit, **common}


def _driven(loaded: Loaded, job: Json, name: str) -> Json:
    """The harm of a loop: run by a script, or called with things that suit its parameters."""
    target = job["target"]
    if target["owners"]:
        return drive_script(job, name)
    try:
        target["loop"] = loop_at(loaded.module, target)
    except CannotRun as no_loop:
        try:
            return drive_script(job, name)
        except CannotRun:
            raise no_loop from None
    return drive_script(job, name)


def _faithfulness(answer: Json) -> tuple[bool, bool]:
    return bool(answer.get("reached")) and answer.get("level") != "slice", bool(answer.get("reached"))


def _answers(loaded: Loaded, job: Json) -> Iterator[Json]:
    """One answer per way to run the target and dtype; slices only if nothing before has reached the line."""
    reached = False
    try:
        subjects = subjects_of(loaded.module, job["target"]["owners"]) if job.get("level", "") != "slice" else []
    except CannotRun as error:
        yield {"kind": "not-runnable", "reason": str(error)}
        subjects = []
    for subject in subjects:
        for dtype in job["dtypes"]:
            answer = on_subject(subject, job, dtype)
            reached = reached or bool(answer.get("reached"))
            yield answer
            if not answer.get("reached"):
                # What does not run in one dtype does not run in the next either.
                break
        if reached:
            return
    if job["target"].get("anywhere"):
        return
    for subject in [one for one in subjects if one.owner is not None][:1]:
        answer = on_shell(subject, job)
        yield answer
        if answer.get("reached"):
            return
    yield on_slice(loaded, job)


def replay(job: Json) -> Json:
    """Run one case; with a text, on the file as if it held that."""
    case = job["case"]
    loaded = _loaded(job)
    if case.get("loop"):
        answer = _on_loop(loaded, job)
        return {"kind": "replayed", "bad": "hit" in answer, "error": "", "hit": answer.get("hit")}
    bench = bench_for(_subject_again(loaded, job), job)
    if "captured" in case:
        bench.captured = _written_down(bench.subject, job)[case["captured"]]
    hit, outcome = (judge_garbage if job["code"] == CODE else judge)(bench, case, job["target"])
    around = _breaks_around(bench, case, job["target"]) if job.get("around") and not outcome.is_bad else False
    return {
        "around": around,
        "kind": "replayed",
        "bad": outcome.is_bad,
        "error": "" if outcome.refused else outcome.error,
        "hit": hit.to_json() if hit is not None else None,
        "adapted": bench.clones or bench.without_gradient or bench.moves_cuda,
    }


def _breaks_around(bench: Bench, case: Json, target: Json) -> bool:
    """Whether the flagged line breaks on other values of the witness's shapes: a fix that moves the pole mends nothing."""
    call = {name: {key: one for key, one in spec.items() if key != "values"} for name, spec in case["call"].items()}
    begin = {**case, "call": call, "corners": {}, "corner": "normal"}
    near = itertools.islice(corners(begin, EDGE), _AROUND)
    return any(judge(bench, one, target)[0] is not None for one in near)


_AROUND = 60
"""Cases around a witness that a fix must stand."""


def proof(job: Json) -> Json:
    """What a saved script says of the code: whether it is finite."""
    return {"kind": "proof", "finite": bool(runpy.run_path(job["path"])["is_finite"]())}


def _written_down(subject: Subject, job: Json) -> list[examples.Call]:
    """The calls among which the case names one by its place."""
    return [*examples.supplied(subject, job["target"]), *examples.documented(subject)]


def _subject_again(loaded: Loaded, job: Json) -> Subject:
    if job["level"] == "slice":
        return slice_of(loaded.module, job["target"], alone=job.get("alone", False))
    found = subjects_of(loaded.module, job["target"]["owners"])
    if job["case"].get("shell"):
        return shell_of(next(one for one in found if one.owner is not None))
    wanted = job["case"].get("owner", "")
    return next((one for one in found if one.owner is not None and one.owner.__name__ == wanted), found[0])
