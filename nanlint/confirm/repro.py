"""The proof as files: a script that runs alone, and a pytest. Both fail while the failure is there, and pass once it is mended.

Where the arguments are plain tensors and values the script needs torch and the user's own code only; where parameters were
forced, or an argument had to be guessed, it replays the case through nanlint.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanlint.confirm.verdicts import plain

if TYPE_CHECKING:
    from nanlint.confirm.target import Target
    from nanlint.model import Finding

Json = dict[str, Any]

_HEAD = '''"""{code} at {place}: {message}

{summary}
"""

import importlib
import sys

import torch

sys.path[:0] = {folders!r}


'''
_PLAIN = '''def tensors(value):
    """Every floating point tensor in a result."""
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, dict):
        value = list(value.values())
    return [one for part in value for one in tensors(part)] if isinstance(value, (list, tuple)) else []


def is_finite():
    """Run the function forward and backward; False if a result or a gradient is NaN or Inf, or torch refuses."""
    torch.manual_seed({seed})
    module = importlib.import_module({module!r})
{arguments}
    try:
        results = tensors({call})
    except RuntimeError:
        return False
    learned = [one for one in {leaves} if isinstance(one, torch.Tensor) and one.requires_grad]
    roots = [one for one in results if one.requires_grad]
    if roots:
        sum(one.float().sum() for one in roots).backward()
    gradients = [one.grad for one in learned if one.grad is not None]
    return all(bool(torch.isfinite(one).all()) for one in [*results, *gradients])


'''
_REPLAYED = '''def is_finite():
    """Replay the case that nanlint found; False if a result or a gradient is NaN or Inf, or torch refuses."""
    import json

    from nanlint.confirm.worker.job import replay

    return not replay(json.loads({job!r}))["bad"]


'''
_SCRIPT = """if __name__ == "__main__":
    if is_finite():
        print("finite: the failure is gone")
        sys.exit(0)
    print({told!r})
    sys.exit(1)
"""
_TEST = """def test_{name}():
    assert is_finite(), {told!r}
"""


def save(folder: str, finding: Finding, target: Target, answer: Json, seen: str) -> str:
    """Write the script and the pytest, which say what was `seen`; returns the path of the script."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    name = _name(finding, target)
    body = _head(finding, target, f"{seen}, {answer['dtype']}") + _body(target, answer, finding)
    told = f"{_place(finding)} {finding.code}: {seen}"
    (place / f"repro_{name}.py").write_text(body + _SCRIPT.format(told=told), encoding="utf-8")
    (place / f"test_{name}.py").write_text(body + _TEST.format(name=name, told=told), encoding="utf-8")
    return str(place / f"repro_{name}.py")


def _name(finding: Finding, target: Target) -> str:
    words = [
        finding.code.lower(),
        *target.module.split("."),
        *(name for _, name in target.owners),
        *([] if finding.cell is None else [f"cell{finding.cell}"]),
        str(finding.span.line),
    ]
    return re.sub(r"\W+", "_", "_".join(words)).strip("_")


def _place(finding: Finding) -> str:
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{finding.path}:{cell}{finding.span.line}".replace("\\", "/")


def seen_in(answer: Json) -> str:
    """What broke, in a few words."""
    hit = answer["hit"]
    return f"{hit['operation']} at line {hit['line']} gives {hit['result']} ({hit['direction']})"


def _head(finding: Finding, target: Target, seen: str) -> str:
    folders = list(dict.fromkeys([target.root, target.project]))
    return _HEAD.format(
        code=finding.code,
        place=_place(finding),
        message=finding.message.replace('"""', "'''"),
        summary=f"Found by nanlint confirm: {seen}.",
        folders=folders,
    )


def _body(target: Target, answer: Json, finding: Finding) -> str:
    case = answer["case"]
    if _is_plain(case, target, answer):
        return _plain_body(case, target)
    told = {**target.to_json(), "hazard": finding.hazard.to_json() if finding.hazard else None}
    job = {
        "target": told,
        "case": case,
        "level": answer["level"],
        "device": "cpu",
        "amp": answer.get("amp", ""),
        "code": finding.code,
        "seed": case["seed"],
    }
    return _REPLAYED.format(job=json.dumps(job))


def _is_plain(case: Json, target: Target, answer: Json) -> bool:
    """Whether the call can be written down without nanlint."""
    touched = (
        any(case.get(key) for key in ("force", "chance", "steps", "loop")) or "captured" in case or answer.get("amp")
    )
    kinds = {spec["kind"] for part in ("call", "ctor") for spec in case.get(part, {}).values()}
    one_method = [kind for kind, _ in target.owners] in (["def"], ["class", "def"])
    return (
        not touched and not answer.get("notes") and kinds <= {"tensor", "value"} and one_method and _importable(target)
    )


def _importable(target: Target) -> bool:
    """Whether a CPU without GPU imports and runs the file as it is: CUDA's autocast is switched off there."""
    if not target.path.endswith(".py"):
        return False
    try:
        return "autocast" not in Path(target.path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _plain_body(case: Json, target: Target) -> str:
    lines = [f"    {name} = {_written(spec, case['dtype'])}" for name, spec in case["call"].items()]
    names = [name for _, name in target.owners]
    call = ", ".join(f"{name}={name}" for name in case["call"])
    leaves = f"[{', '.join(case['call'])}]"
    if len(names) > 1:
        built = ", ".join(f"{name}={_written(spec, case['dtype'])}" for name, spec in case["ctor"].items())
        lines.append(f"    subject = module.{names[0]}({built})")
        lines.append(
            f"    if isinstance(subject, torch.nn.Module):\n        subject.to(torch.{case['dtype']}).train({case.get('train', True)})"
        )
        leaves = f"[*{leaves}, *getattr(subject, 'parameters', list)()]"
        called = f"subject({call})" if names[1] == "forward" else f"subject.{names[1]}({call})"
    else:
        called = f"module.{names[0]}({call})"
    return _PLAIN.format(
        seed=case["seed"], module=target.module, arguments="\n".join(lines) or "    pass", call=called, leaves=leaves
    )


def _written(spec: Json, dtype: str) -> str:
    if spec["kind"] != "tensor":
        return f"tuple({spec['value']!r})" if spec.get("tuple") else repr(spec["value"])
    kind = {"mask": "bool", "index": "long"}.get(spec["domain"], dtype)
    grad = ", requires_grad=True" if kind == dtype and spec.get("grad", True) else ""
    shape = "" if all(spec["shape"]) else f".reshape({spec['shape']})"
    return f"torch.tensor({plain(spec)!r}, dtype=torch.{kind}{grad}){shape}"
