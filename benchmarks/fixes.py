"""`--fix` on real packages: does what is changed compile, is it final, is the diff what was written, are results the same?

    python benchmarks/fixes.py [--only NAMES] [--unsafe-fixes] [--work DIR] [--wheels DIR]

Works on copies. A fixed function that can be run by itself (tensors in, nothing imported but torch and the standard
library) is run before and after on ordinary inputs. Exits with 1 if any file fails.
"""

from __future__ import annotations

import argparse
import ast
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.realcode import corpus
from benchmarks.table import table
from nanlint.engine.checker import Checker
from nanlint.engine.fix_paths import Document, fixed
from nanlint.settings import Settings
from nanlint.source.read import UnreadableSource, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.engine.ruleset import Ruleset

SETTINGS = Settings(select=("ALL",), preview=True, severity="info")


@dataclass
class Tally:
    """What fixing some files came to."""

    files: int = 0
    changed: int = 0
    applied: int = 0
    withdrawn: int = 0
    run: int = 0
    equal: int = 0
    failures: list[str] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Count `other` in."""
        for name in ("files", "changed", "applied", "withdrawn", "run", "equal"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failures += other.failures
        self.codes += other.codes


def fix_file(path: Path, ruleset: Ruleset, *, unsafe: bool) -> Tally:
    """Fix one file on disk and look at what came of it."""
    tally = Tally(files=1)
    try:
        document = Document(str(path), read_bytes(path))
    except UnreadableSource:
        return tally
    outcome = fixed(document, ruleset, unsafe=unsafe)
    tally.withdrawn = len(outcome.withdrawn)
    if not outcome.changed:
        return tally
    tally.changed, tally.applied = 1, outcome.handled
    tally.codes.update(finding.code for finding in outcome.applied)
    outcome.write()
    tally.failures += [f"{path}: {problem}" for problem in _problems(path, document, outcome.diff(), ruleset, unsafe)]
    for name, before, after in changed_functions(document.text, outcome.text):
        verdict = compare(document.text, before, after, name)
        tally.run += verdict is not None
        tally.equal += bool(verdict)
        if verdict is False:
            tally.failures.append(f"{path}: {name} gives other results")
    return tally


def _problems(path: Path, old: Document, diff: str, ruleset: Ruleset, unsafe: bool) -> Iterator[str]:  # noqa: FBT001 - as the command says
    written = Document(str(path), read_bytes(path))
    if not written.parses(written.text):
        yield "does not compile any more"
    if fixed(written, ruleset, unsafe=unsafe).changed:
        yield "a second run changes it again"
    if old.diff(written.text) != diff:
        yield "the diff is not what was written"


def changed_functions(before: str, after: str) -> Iterator[tuple[str, str, str]]:
    """The top-level functions whose text differs: name, old text, new text."""
    old, new = _functions(before), _functions(after)
    for name in old.keys() & new.keys():
        if old[name] != new[name]:
            yield name, old[name], new[name]


def _functions(text: str) -> dict[str, str]:
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {node.name: ast.get_source_segment(text, node) or "" for node in nodes}


def compare(module: str, before: str, after: str, name: str) -> bool | None:
    """Whether both functions agree on ordinary inputs, in value and gradient; None if they cannot be run by themselves."""
    import torch  # noqa: PLC0415 - only where something was fixed

    shared = _preamble(module)
    try:
        functions = [_function(f"{shared}\n{text}", name) for text in (before, after)]
    except Exception:  # noqa: BLE001 - code of others: whatever it raises, it cannot be run here
        return None
    compared = 0
    for inputs in _ordinary(before, torch):
        try:
            results = [_run(function, inputs, torch) for function in functions]
        except Exception:  # noqa: BLE001, S112 - as above: these inputs do not fit
            continue
        if all(bool(torch.isfinite(part).all()) for part in results[0]) and results[0]:
            compared += 1
            if len(results[0]) != len(results[1]) or not all(
                torch.allclose(one, two, rtol=1e-3, atol=1e-4) for one, two in zip(*results, strict=True)
            ):
                return False
    return True if compared else None


def _preamble(module: str) -> str:
    """The imports of torch and of the standard library."""
    kept = []
    for node in ast.parse(module).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            roots = {name.partition(".")[0] for name in names}
            if not getattr(node, "level", 0) and roots <= {
                "torch",
                "math",
                "typing",
                "__future__",
                "functools",
                "einops",
            }:
                kept.append(ast.unparse(node))
    return "\n".join(kept)


def _function(text: str, name: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(text, "fixed", "exec"), names)  # noqa: S102 - what was fixed has to be run to be compared
    return names[name]


def _ordinary(function: str, torch: Any) -> Iterator[dict[str, Any]]:
    """Tensors for every parameter without a default, in a few shapes."""
    node = ast.parse(function).body[0]
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args
    required = [argument.arg for argument in arguments.args[: len(arguments.args) - len(arguments.defaults)]]
    for shape in ((4, 3), (2, 4, 3), (3, 3), (2, 3, 4, 4), (5,)):
        for seed in range(2):
            torch.manual_seed(seed)
            yield {name: torch.rand(shape) > 0.3 if "mask" in name else torch.rand(shape) + 0.1 for name in required}


def _run(function: Any, inputs: dict[str, Any], torch: Any) -> list[Any]:
    """The outputs of the function and the gradients of its inputs."""
    torch.manual_seed(0)
    given = {
        name: value.clone().requires_grad_() if value.is_floating_point() else value.clone()
        for name, value in inputs.items()
    }
    result = function(**given)
    outputs = [out for out in (result if isinstance(result, (tuple, list)) else [result]) if torch.is_tensor(out)]
    real = [out for out in outputs if out.is_floating_point() and out.requires_grad]
    if real:
        sum(out.sum() for out in real).backward()
    gradients = [value.grad for value in given.values() if value.is_floating_point() and value.grad is not None]
    return [out.detach() for out in outputs if out.is_floating_point()] + gradients


def main(arguments: Sequence[str] | None = None) -> int:
    """Fix copies of all packages, print the table and what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unsafe-fixes", action="store_true", help="also fixes that change some results")
    corpus.add_options(parser)
    options = parser.parse_args(arguments)
    total, rows = Tally(), []
    ruleset = Checker(gated=True).ruleset(SETTINGS)
    packages = corpus.corpus_of(options)
    for release in packages.releases():
        tally = Tally()
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(shutil.copytree(packages.tree(release), Path(folder) / "copy"))
            for path in sorted(copy.rglob("*.py")):
                tally.add(fix_file(path, ruleset, unsafe=options.unsafe_fixes))
        rows.append((release.name, *_counts(tally)))
        print(*rows[-1], file=sys.stderr, flush=True)
        total.add(tally)
    heads = ("package", "files", "changed", "fixes", "withdrawn", "run", "equal", "failures")
    print(*table(heads, [*rows, ("all", *_counts(total))]), sep="\n")
    print("by rule:", ", ".join(f"{code} {count}" for code, count in sorted(total.codes.items())) or "none")
    print(*total.failures, sep="\n")
    return 1 if total.failures else 0


def _counts(tally: Tally) -> tuple[str, ...]:
    counts = (tally.files, tally.changed, tally.applied, tally.withdrawn, tally.run, tally.equal, len(tally.failures))
    return tuple(f"{count:,}" for count in counts)


if __name__ == "__main__":
    sys.exit(main())
