"""How fast nanlint is, beside its peers and the floors, in one run: `python benchmarks/speed.py`.

Fetches the pinned packages and tools into a working folder, measures them in turns and prints one Markdown table per
scene with a verdict against each target; the same text goes to benchmarks/results/speed.md. Ratios are taken within the
run. Quick tools are run several times and the least counts; the libcst-based peers take minutes and are run once, on
x-transformers (with --full on timm too), and scaled by lines to transformers.

How the interpreter was compiled counts for as much as its version: `ast.parse` takes half as long again with a CPython that
was built without profile-guided optimisation. Run this with the Python that your users have, and name others with --also.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bench import Bench
from benchmarks.measure import Command, Usage, best_of, run
from benchmarks.packages import (
    DEFAULT_WORK,
    PEERS,
    ROOT,
    TIMM,
    TRANSFORMERS,
    X_TRANSFORMERS,
    Workshop,
    python_of,
    version_of,
)
from benchmarks.table import Scene, Target, fill_readme, megabytes, milliseconds, ratio, seconds, table

if TYPE_CHECKING:
    from benchmarks.packages import Source

RESULTS = Path(__file__).resolve().parent / "results" / "speed.md"

# Of about 1,400 lines each: in the first the prefilter keeps nothing, in the second it keeps functions that turn out clean.
UNTOUCHED = "models/minicpmv4_7/modeling_minicpmv4_7.py"
LOOKED_INTO = "models/whisper/modeling_whisper.py"
DEFECT = "\n\ndef surprise(logits):\n    return torch.log(torch.softmax(logits, dim=-1))\n"

SLOW_PEERS = ("TorchFix", "Fixit")
CHANGED = "nanlint, one file changed, the prefilter keeps nothing"
CHANGED_AND_ANALYSED = "nanlint, one file changed, functions analysed"


def one_file(bench: Bench, rounds: int) -> Scene:
    """The hook: one file at a time, cold."""
    clean, looked_into = bench.transformers.folder / UNTOUCHED, bench.transformers.folder / LOOKED_INTO
    bad = bench.workshop.work / "one_finding.py"
    bad.write_text(clean.read_text(encoding="utf-8") + DEFECT, encoding="utf-8")
    commands = {
        "`python -c pass`": Command([bench.python, "-c", "pass"]),
        "nanlint, the prefilter keeps nothing": bench.nanlint(clean, cache="one", cold=True),
        "nanlint, functions analysed, clean": bench.nanlint(looked_into, cache="one", cold=True),
        "nanlint, one finding": bench.nanlint(bad, cache="one", cold=True),
        "ruff": bench.ruff(clean, cache="one-ruff", cold=True),
    }
    best = best_of(commands, rounds)
    best |= best_of({name: bench.peer(name, clean) for name in SLOW_PEERS}, 2)
    bare = best["`python -c pass`"].wall
    hook, finding = best["nanlint, the prefilter keeps nothing"].wall, best["nanlint, one finding"].wall
    promises = {
        "nanlint, the prefilter keeps nothing": bench.promise(
            "hook", Target("<= 8x bare python", ratio(hook, bare), hook <= 8 * bare)
        ),
        "nanlint, one finding": bench.promise(
            "finding", Target("<= 600 ms", f"{milliseconds(finding)} ms", finding <= 0.6)
        ),
    }
    count = clean.read_bytes().count(b"\n")
    scene = Scene(
        f"One file of {count:,} lines, nothing remembered",
        ("run", "wall ms", "CPU ms", "x python", "target", "verdict"),
    )
    for name, usage in best.items():
        cells = (name, milliseconds(usage.wall), milliseconds(usage.cpu), ratio(usage.wall, bare))
        scene.rows.append((*cells, *promises.get(name, ("", ""))))
    return scene


def small_package(bench: Bench, source: Source, rounds: int) -> Scene:
    """A package on which the slow peers can be waited for; the last one measured is what gets scaled."""
    lines = source.lines()
    quick = {"nanlint, cold": bench.nanlint(source.folder, cache="small", cold=True)}
    quick["ruff, cold"] = bench.ruff(source.folder, cache="small-ruff", cold=True)
    best = best_of(quick, rounds)
    for name in SLOW_PEERS:
        best[name] = run(bench.peer(name, source.folder))
        bench.slow[name] = best[name].cpu / lines * bench.lines
    scene = Scene(
        f"{source.package.name} {source.package.version}: {len(source.files()):,} files, {lines:,} lines",
        ("run", "CPU s", "wall s", "CPU ms per 1,000 lines", "x nanlint's CPU"),
    )
    base = best["nanlint, cold"].cpu
    for name, usage in best.items():
        cells = (seconds(usage.cpu), seconds(usage.wall), f"{usage.cpu / lines * 1e6:,.1f}", ratio(usage.cpu, base))
        scene.rows.append((name, *cells))
    return scene


def whole_tree(bench: Bench, rounds: int) -> Scene:
    """transformers: cold, warm, and with one changed file."""
    folder = bench.transformers.folder
    warm = bench.nanlint(folder, cache="tree", cold=False)
    commands = {
        "ruff, cold": bench.ruff(folder, cache="tree-ruff", cold=True),
        "nanlint, cold": bench.nanlint(folder, cache="tree", cold=True),
        **{_cold_with(other): bench.nanlint(folder, cache="other", cold=True, other=other) for other in bench.others},
        "ruff, warm": bench.ruff(folder, cache="tree-ruff", cold=False),
        "nanlint, warm": warm,
        CHANGED: Command(warm.words, lambda: _change(folder / UNTOUCHED)),
        CHANGED_AND_ANALYSED: Command(warm.words, lambda: _change(folder / LOOKED_INTO)),
    }
    best = best_of(commands, 1)
    again = {name: command for name, command in commands.items() if "cold" not in name}
    for other in (best_of(commands, rounds - 1), best_of(again, 3 * rounds)):
        best |= {name: _least(usage, best[name]) for name, usage in other.items()}
    peaks = {name: run(commands[name], weigh=True).peak for name in ("ruff, cold", "nanlint, cold")}
    scene = Scene(
        f"transformers {TRANSFORMERS.version}: {len(bench.transformers.files()):,} files, {bench.lines:,} lines",
        ("run", "CPU s", "wall s", "peak MB", "x nanlint cold", "target", "verdict"),
        remark="Warm, ruff checks every file with findings again, and its default rules find some in many files.",
    )
    promises = _tree_promises(bench, best, peaks)
    base = best["nanlint, cold"].cpu
    for name, usage in best.items():
        cells = (seconds(usage.cpu), seconds(usage.wall), megabytes(peaks.get(name, 0)), ratio(usage.cpu, base))
        scene.rows.append((name, *cells, *promises.get(name, ("", ""))))
    for name, cpu in bench.slow.items():
        scene.rows.append((f"{name}, scaled by lines", seconds(cpu), "", "", ratio(cpu, base), *promises[name]))
    scene.rows.append(("nanlint, cold, memory", "", "", megabytes(peaks["nanlint, cold"]), "", *promises["memory"]))
    return scene


def _cold_with(other: str) -> str:
    return f"nanlint, cold, {other}"


def _change(path: Path) -> None:
    with path.open("a", encoding="utf-8") as out:
        out.write("# one more line\n")


def _least(first: Usage, second: Usage) -> Usage:
    return Usage(min(first.cpu, second.cpu), min(first.wall, second.wall))


def _tree_promises(bench: Bench, best: dict[str, Usage], peaks: dict[str, int]) -> dict[str, tuple[str, str]]:
    cold, ruff = best["nanlint, cold"].cpu, best["ruff, cold"].cpu
    warm, ruff_warm = best["nanlint, warm"].wall, best["ruff, warm"].wall
    peak = peaks["nanlint, cold"]
    warm_text = f"{milliseconds(warm)} ms, {ratio(warm, ruff_warm)}"
    colds = {name: usage.cpu for name, usage in best.items() if name.startswith("nanlint, cold")}
    promises = {
        **{name: Target("<= 6x ruff's CPU", ratio(cpu, ruff), cpu <= 6 * ruff) for name, cpu in colds.items()},
        "nanlint, warm": Target("<= 150 ms or 2x ruff, wall", warm_text, warm <= max(0.15, 2 * ruff_warm)),
        "memory": Target("<= 300 MB", f"{megabytes(peak)} MB", 0 < peak <= 300e6),
    }
    for name in (CHANGED, CHANGED_AND_ANALYSED):
        wall = best[name].wall
        promises[name] = Target("<= 1.5x warm, wall", ratio(wall, warm), wall <= 1.5 * warm)
    for name, cpu in bench.slow.items():
        promises[name] = Target(">= 100x nanlint's CPU", ratio(cpu, cold), cpu >= 100 * cold)
    return {key: bench.promise(key, target) for key, target in promises.items()}


def parts(bench: Bench) -> list[Scene]:
    """The floors, and where nanlint's own cold run spends its time."""
    folder = str(bench.transformers.folder)
    cache = bench.workshop.work / "caches" / "parts"
    shutil.rmtree(cache, ignore_errors=True)
    floors = Scene("Floors on transformers, one process", ("work", "CPU s"))
    floors.rows.extend(
        (name, seconds(value)) for name, value in _script(bench, "floors.py", folder, bench.rules).items()
    )
    phases = Scene(
        "Where nanlint's cold run on transformers spends its CPU",
        ("phase", "CPU s", "share"),
        remark="One process, each phase without what it calls. *rest* is the engine, the rules, and freeing syntax trees.",
    )
    found = _script(bench, "phases.py", folder, str(cache), *bench.selection)
    total = sum(found.values())
    phases.rows.extend((name, seconds(value), f"{value / total:.0%}") for name, value in found.items())
    phases.rows.append(("all", seconds(total), ""))
    return [floors, phases]


def _script(bench: Bench, name: str, *words: str) -> dict[str, float]:
    script = Path(__file__).resolve().parent / name
    answer = subprocess.run([bench.python, str(script), *words], check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(answer.stdout)
    return result


def machine(bench: Bench) -> str:
    """What one needs to know of the machine; no names and no paths."""
    versions = {name: version_of(bench.bin[name], name.lower()) for name in ("nanlint", *PEERS)}
    versions["libcst"] = version_of(bench.bin["nanlint"], "libcst")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    tools = ", ".join(f"{name} {version}" for name, version in versions.items())
    system = f"{platform.system()} {platform.machine()}, {cores} cores"
    rules = f"rules {bench.rules}" if bench.rules else "default rules"
    return f"{system}, {python_of(bench.bin['nanlint'])}; {tools}; {rules}."


def short(bench: Bench) -> str:
    """The version for the README: each promise with its verdict."""
    wording = {
        "hook": "one clean file of 1,400 lines (the hook)",
        "finding": "the same with a finding",
        "nanlint, cold": "transformers, cold: CPU against ruff's default rules",
        **{_cold_with(other): f"the same with {other}" for other in bench.others},
        "TorchFix": "transformers, cold: CPU of TorchFix against nanlint's (scaled by lines)",
        "Fixit": "transformers, cold: CPU of Fixit against nanlint's (scaled by lines)",
        "nanlint, warm": "transformers, nothing changed",
        CHANGED: "transformers, one file changed in which no rule's words occur",
        CHANGED_AND_ANALYSED: "transformers, one file changed in which functions are analysed",
        "memory": "transformers, peak memory of all processes",
    }
    rows = [(wording[key], target.promise, target.verdict) for key, target in bench.targets.items()]
    return "\n".join([*table(("what", "target", "measured"), rows), "", machine(bench)])


def main() -> None:
    """Measure everything, print and write the tables."""
    options = _options()
    bench = Bench(Workshop(options.work, options.wheels), options.select, options.also)
    packages = [X_TRANSFORMERS, TIMM] if options.full else [X_TRANSFORMERS]
    scenes = [one_file(bench, 5 * options.rounds)]
    scenes += [small_package(bench, bench.workshop.source(package), options.rounds) for package in packages]
    scenes += [whole_tree(bench, options.rounds), *parts(bench)]
    text = "\n\n".join(["# Speed", machine(bench), *(scene.markdown() for scene in scenes)]) + "\n"
    print(text)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")
    if options.write_readme:
        fill_readme(ROOT / "README.md", short(bench))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK, help=f"the working folder (default: {DEFAULT_WORK})")
    parser.add_argument("--wheels", type=Path, help="a folder that holds the wheels of the packages already")
    parser.add_argument("--select", default="", metavar="CODES", help="run these rules of nanlint (default: all)")
    parser.add_argument("--rounds", type=int, default=3, help="how often the quick tools take turns (default: 3)")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="PYTHON",
        help="another interpreter to measure nanlint's cold run with; may be given several times",
    )
    parser.add_argument("--full", action="store_true", help="run the slow peers on timm too: a quarter of an hour more")
    parser.add_argument("--write-readme", action="store_true", help="put the short table into the README")
    return parser.parse_args()


if __name__ == "__main__":
    main()
