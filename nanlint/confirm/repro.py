"""The proof as files: a script that runs alone, and a pytest. Both fail while the failure is there, and pass once it is mended.

Where the arguments are plain tensors and values the script needs torch and the user's own code only; where parameters were
forced, or an argument had to be guessed, it replays the case through nanlint.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanlint.confirm.replaying import PATHS
from nanlint.confirm.verdicts import plain

if TYPE_CHECKING:
    from nanlint.confirm.target import Target
    from nanlint.model import Finding

Json = dict[str, Any]

_HEAD = '''"""{code} at {place}: {message}

Found by nanlint confirm: {seen}, {dtype}.
"""

'''
_PLAIN = '''import importlib
import sys
from pathlib import Path

import torch

FOLDERS = [str(Path(__file__).parent.joinpath(folder).resolve()) for folder in {folders!r}]
MODULE = {module!r}


def imported():
    """The module from these folders, and no other one of its name that is loaded already."""
    sys.path[:0] = FOLDERS
    for name in list(sys.modules):
        if name.partition(".")[0] == MODULE.partition(".")[0]:
            del sys.modules[name]
    return importlib.import_module(MODULE)


def tensors(value):
    """Every floating point tensor in a result."""
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, dict):
        value = list(value.values())
    return [one for part in value for one in tensors(part)] if isinstance(value, (list, tuple)) else []


def is_finite():
    """Run the function forward and backward; False if {failure}."""
    torch.manual_seed({seed})
    module = imported()
{arguments}
{called}
    learned = [one for one in {leaves} if isinstance(one, torch.Tensor) and one.requires_grad]
    roots = [one for one in results if one.requires_grad]
    if roots:
        sum(one.float().sum() for one in roots).backward()
    gradients = [one.grad for one in learned if one.grad is not None]
    return all(bool(torch.isfinite(one).all()) for one in [*results, *gradients])


'''
_CALLED = "    results = tensors({call})"
_REFUSED = """    try:
        results = tensors({call})
    except RuntimeError as error:
        print(error)
        return False"""
_REPLAYED = '''import json
import sys

from nanlint.confirm.replaying import is_finite_again

CASE = {job!r}


def is_finite():
    """Replay the case that nanlint found; False if a result or a gradient is NaN or Inf, or torch refuses."""
    return is_finite_again(json.loads(CASE), beside=__file__)


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
    head = _HEAD.format(
        code=finding.code,
        place=_quoted(_place(finding)),
        message=_quoted(finding.message),
        seen=_quoted(seen),
        dtype=answer["dtype"],
    )
    near = _Near(place, target)
    body = head + (_plain_body(answer, near) if is_plain(answer, target) else _replayed_body(answer, near, finding))
    told = f"{_place(finding)} {finding.code}: {seen}"
    (place / f"repro_{name}.py").write_text(body + _SCRIPT.format(told=told), encoding="utf-8")
    (place / f"test_{name}.py").write_text(body + _TEST.format(name=name, told=told), encoding="utf-8")
    return str(place / f"repro_{name}.py")


@dataclass(frozen=True)
class _Near:
    """The target as a proof in `folder` finds it: a project that holds its proofs can be moved as a whole."""

    folder: Path
    target: Target

    def to(self, path: str) -> str:
        """The path from the proof's folder if that lies in the project, else as it is."""
        if not self.folder.resolve().is_relative_to(Path(self.target.project).resolve()):
            return path
        return Path(os.path.relpath(Path(path).resolve(), self.folder.resolve())).as_posix()

    def told(self) -> Json:
        """The target for a replay."""
        told = self.target.to_json()
        return {**told, **{key: self.to(told[key]) for key in PATHS}}


def _quoted(text: str) -> str:
    """Text for the inside of a docstring."""
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _name(finding: Finding, target: Target) -> str:
    """The file, the definition and the place: no two findings have the same."""
    path = Path(finding.path)
    project = Path(target.project)
    if path.is_absolute() and path.is_relative_to(project):
        path = path.relative_to(project)
    words = [
        finding.code.lower(),
        *path.with_suffix("").parts,
        *(name for _, name in target.owners),
        *([] if finding.cell is None else [f"cell{finding.cell}"]),
        str(finding.span.line),
        str(finding.span.column),
    ]
    return re.sub(r"\W+", "_", "_".join(words)).strip("_")


def _place(finding: Finding) -> str:
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{finding.path}:{cell}{finding.span.line}".replace("\\", "/")


def seen_in(answer: Json) -> str:
    """What broke, in a few words."""
    hit = answer["hit"]
    what = f"the gradient of {hit['of'].strip('_')}" if hit.get("of") else hit["operation"].strip("_")
    return f"{what} at line {hit['line']} gives {hit['result']} ({hit['direction']})"


def _replayed_body(answer: Json, near: _Near, finding: Finding) -> str:
    job = {
        "target": {**near.told(), "hazard": finding.hazard.to_json() if finding.hazard else None},
        "case": answer["case"],
        "level": answer["level"],
        "device": answer["device"],
        "amp": answer["amp"],
        "flush": answer["flush"],
        "code": finding.code,
        "seed": answer["case"]["seed"],
    }
    return _REPLAYED.format(job=json.dumps(job))


def is_plain(answer: Json, target: Target) -> bool:
    """Whether the call can be written down without nanlint."""
    case = answer["case"]
    touched = any(case.get(key) for key in ("force", "chance", "loop")) or "captured" in case
    specs = [spec for part in ("call", "ctor") for spec in case.get(part, {}).values()]
    is_written = all(spec["kind"] == "value" or ("values" in spec and not spec.get("numpy")) for spec in specs)
    is_cpu = answer["device"] == "cpu" and not answer["amp"] and not answer["flush"]
    one_method = [kind for kind, _ in target.owners] in (["def"], ["class", "def"])
    is_own = case.get("owner", "") in {"", target.owners[0][1] if target.owners else ""}
    is_simple = not touched and not answer.get("notes") and not answer.get("guessed")
    return is_simple and is_written and is_cpu and one_method and is_own and _importable(target)


def _importable(target: Target) -> bool:
    """Whether a CPU without GPU imports and runs the file as it is: CUDA's autocast is switched off there."""
    if not target.path.endswith(".py"):
        return False
    try:
        return "autocast" not in Path(target.path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _plain_body(answer: Json, near: _Near) -> str:
    case, target = answer["case"], near.target
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
    refuses = answer["hit"]["operation"] == "raises"
    return _PLAIN.format(
        seed=case["seed"],
        module=target.module,
        folders=list(dict.fromkeys(map(near.to, [target.root, target.project]))),
        arguments="\n".join(lines) or "    pass",
        failure="torch refuses" if refuses else "a result or a gradient is NaN or Inf",
        called=(_REFUSED if refuses else _CALLED).format(call=called),
        leaves=leaves,
    )


def _written(spec: Json, dtype: str) -> str:
    if spec["kind"] != "tensor":
        return f"tuple({spec['value']!r})" if spec.get("tuple") else repr(spec["value"])
    kind = {"mask": "bool", "index": "long"}.get(spec["domain"], dtype)
    grad = ", requires_grad=True" if kind == dtype and spec.get("grad", True) else ""
    shape = "" if all(spec["shape"]) else f".reshape({spec['shape']})"
    return f"torch.tensor({plain(spec)!r}, dtype=torch.{kind}{grad}){shape}"
