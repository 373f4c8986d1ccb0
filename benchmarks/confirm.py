"""Run confirm on every fixture, and on what is found in real packages: verdicts, levels, reasons, seconds.

    python benchmarks/confirm.py [--jobs N] [--select NAN1,NAN2]      fixtures: bad must be confirmed, good and fixed not
    python benchmarks/confirm.py --save-and-replay [--select NAN1]    every saved proof fails, and passes after the fix
    python benchmarks/confirm.py --real FOLDER... [--write FILE]      packages, each unpacked in a folder of its own

A good or fixed function is searched as a whole: a failure of any of its lines with the finding's operation would count.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.confirm_real import on_packages, page, summary  # noqa: E402 - the checkout comes first
from benchmarks.saved_proofs import on_saved  # noqa: E402 - the checkout comes first
from nanlint.cli.checking.verdicts import fixed_text  # noqa: E402 - the checkout comes first
from nanlint.confirm.confirming import NOTHING_TO_RUN, Confirmer  # noqa: E402 - the checkout comes first
from nanlint.confirm.harness import Harness  # noqa: E402 - the checkout comes first
from nanlint.confirm.options import Options  # noqa: E402 - the checkout comes first
from nanlint.confirm.target import import_place, project_of  # noqa: E402 - the checkout comes first
from nanlint.model.verdict import VerdictKind  # noqa: E402 - the checkout comes first
from nanlint.testing import expectations, findings_in  # noqa: E402 - the checkout comes first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanlint.model import Finding

Json = dict[str, Any]
WITHOUT_PROOF = {*NOTHING_TO_RUN, "NAN001"}
OF_A_FRAMEWORK = ("bad-trainers.py",)
"""Fixtures whose harm is done by a framework that is not installed: its settings are all there is to see."""
NUMERIC = ("NAN1", "NAN2", "NAN3")


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, run, print; 1 if a fixture has the wrong verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--select", default="", help="codes or prefixes, with commas")
    parser.add_argument("--real", nargs="+", metavar="FOLDER", help="packages instead of fixtures")
    parser.add_argument("--most", type=int, default=12, help="findings of one package, with --real")
    parser.add_argument("--findings", default="", metavar="DIR", help="keep what check found here, with --real")
    parser.add_argument("--write", default="", metavar="FILE", help="the table, with --real")
    parser.add_argument(
        "--save-and-replay", action="store_true", help="run the saved proofs, before and after the fixes"
    )
    options = parser.parse_args(arguments)
    if options.real:
        return on_real(options)
    wanted = tuple(word for word in options.select.split(",") if word)
    begun = time.monotonic()
    harness = Timed()
    with harness:
        harness.ask({"do": "devices", "device": "cpu", "timeout": 60.0})
        if options.save_and_replay:
            return on_saved(harness, bad_findings(wanted), ROOT, options.jobs)
        wrong = max(on_bad(harness, options.jobs, wanted), on_good(harness, options.jobs, wanted))
    ended = os.times()
    busy = ended.children_user + ended.children_system
    print(
        f"in all {time.monotonic() - begun:.1f} s; {busy:.1f} s of processor time in children, {harness.jobs} of them"
    )
    return wrong


class Timed(Harness):
    """A harness that keeps how long its children searched, in seconds of processor time, and counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.searches: list[float] = []
        self.jobs = 0

    def ask(self, job: Json) -> Json:
        """The answer, as ever."""
        answer = super().ask(job)
        self.jobs += 1
        if "search_seconds" in answer and str(job.get("code", "")).startswith(NUMERIC):
            self.searches.append(answer["search_seconds"])
        return answer


def on_real(options: argparse.Namespace) -> int:
    """Print and perhaps write what confirm makes of findings nobody wrote for it."""
    tally = on_packages(options.real, options.jobs, options.most, options.findings)
    print("\n".join(summary(tally)))
    if options.write:
        command = f"python benchmarks/confirm.py --real FOLDER... --most {options.most}"
        Path(options.write).write_text(page(tally, command), encoding="utf-8")
    return 0


def folders(wanted: tuple[str, ...]) -> list[Path]:
    """The fixture folders of rules that name a proof."""
    every = sorted(path for path in (ROOT / "fixtures").iterdir() if re.match(r"NAN\d{3}_", path.name))
    return [path for path in every if path.name[:6] not in WITHOUT_PROOF and path.name.startswith(wanted or "NAN")]


def bad_findings(wanted: tuple[str, ...]) -> Iterator[Finding]:
    """Everything that is marked in the fixtures, as its rule finds it."""
    for folder in folders(wanted):
        for path in sorted(folder.glob("*.py")):
            text = path.read_text(encoding="utf-8")
            if path.name.endswith(".fixed.py") or path.name in {"truth.py", *OF_A_FRAMEWORK} or not expectations(text):
                continue
            for finding in findings_in(text, folder.name[:6]):
                yield replace(finding, path=str(path))


def on_bad(harness: Timed, jobs: int, wanted: tuple[str, ...]) -> int:
    """Every marked finding must be confirmed, and its fix, if it has one, must mend it."""
    findings = list(bad_findings(wanted))
    begun = time.monotonic()
    done = Confirmer(Options(device="cpu"), jobs=jobs, fixed=fixed_text, harness=harness).confirm(findings)
    seconds = time.monotonic() - begun
    missed = [one for one in done if one.verdict is None or one.verdict.kind is not VerdictKind.CONFIRMED]
    numeric = harness.searches
    verified = Counter(one.verdict.fix_verified for one in done if one.verdict)
    for one in missed:
        print(
            f"MISSED {_shown(one)}: {one.verdict.kind.value if one.verdict else '-'}: {one.verdict and one.verdict.reason}"
        )
    for one in done:
        if one.verdict and one.verdict.fix_verified is False:
            print(f"FIX FAILS {_shown(one)}: {one.verdict.reason}")
    grades = Counter(one.verdict.plausibility.value for one in done if one.verdict and one.verdict.plausibility)
    print(
        f"bad fixtures: {len(done) - len(missed)} of {len(done)} findings confirmed in {seconds:.1f} s with {jobs} jobs"
    )
    print(f"  numeric findings: {sum(numeric) / max(len(numeric), 1):.3f} s of search each, in processor time")
    print(
        f"  plausibility: {dict(grades)}; fix verified: {verified[True]}, fails: {verified[False]}, none: {verified[None]}"
    )
    return int(bool(missed))


def good_functions(wanted: tuple[str, ...]) -> Iterator[tuple[Path, str, Json]]:
    """The functions and modules of every good and fixed fixture; those of a rule about loops are driven."""
    for folder in folders(wanted):
        code = "" if folder.name.startswith(NUMERIC) else folder.name[:6]
        hazards = {one.hazard.operation for one in bad_findings((folder.name[:6],)) if one.hazard}
        for path in sorted([*folder.glob("good*.py"), *folder.glob("*.fixed.py")]):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                owners = _owners(node)
                if owners:
                    yield path, owners[0][1], _whole(path, node, owners) | {"operations": sorted(hazards), "code": code}


def _owners(node: ast.stmt) -> list[list[str]]:
    if isinstance(node, ast.FunctionDef):
        return [["def", node.name]]
    if isinstance(node, ast.ClassDef) and any(
        isinstance(one, ast.FunctionDef) and one.name == "forward" for one in node.body
    ):
        return [["class", node.name], ["def", "forward"]]
    return []


def _whole(path: Path, node: ast.stmt, owners: list[list[str]]) -> Json:
    """A target of which every line counts."""
    root, module = import_place(str(path))
    place = {"path": str(path), "root": root, "module": module, "project": project_of(str(path))}
    return {**place, "owners": owners, "first": node.lineno, "last": node.end_lineno, "anywhere": True}


def on_good(harness: Harness, jobs: int, wanted: tuple[str, ...]) -> int:
    """No good and no fixed function may be confirmed."""
    from nanlint.confirm.worker.blame import names_of  # noqa: PLC0415 - it imports torch, which only this part needs

    found = list(good_functions(wanted))
    begun = time.monotonic()
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        answers = list(pool.map(lambda one: harness.ask(whole_job(one[2])), found))
    wrong = 0
    for (path, name, target), answer in zip(found, answers, strict=True):
        operations = {name for operation in target["operations"] for name in names_of(operation)}
        if answer.get("kind") == "confirmed" and answer["hit"]["operation"] in operations | {"raises", "loop"}:
            wrong += 1
            print(f"WRONG {path.parent.name}/{path.name} {name}: {answer['hit']} {answer['case']['grade']}")
    kinds = Counter(answer.get("kind", "died") for answer in answers)
    print(f"good and fixed: {wrong} of {len(found)} confirmed in {time.monotonic() - begun:.1f} s; {dict(kinds)}")
    return int(bool(wrong))


def whole_job(target: Json) -> Json:
    """A search on a whole function, as the child gets it."""
    return {
        "do": "search", "target": target, "code": target["code"], "dtypes": ["float32"], "device": "cpu", "seed": 0, "timeout": 60.0,
        "evaluations": 2000, "seconds": 6.0, "fit_tries": 300, "fit_seconds": 5.0, "shrink_tries": 50,
    }  # fmt: skip


def _shown(finding: Finding) -> str:
    path = Path(finding.path)
    place = path.relative_to(ROOT) if path.is_absolute() and path.is_relative_to(ROOT) else path
    return f"{place}:{finding.span.line} {finding.code}"


if __name__ == "__main__":
    sys.exit(main())
