"""Save a proof of everything that is marked in the fixtures, and run all of them: before the fixes, and after them.

    python benchmarks/confirm.py --save-and-replay [--jobs N] [--select NAN1,NAN2]

Every script must end with 1 and every pytest must fail by its assertion; after the offered fixes were applied, those of
the findings that have one must end with 0 and pass. The fixtures are copied first: the checkout stays as it is.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nanlint.cli.checking.verdicts import fixed_text
from nanlint.confirm.confirming import Confirmer
from nanlint.confirm.harness import environment
from nanlint.confirm.options import Options
from nanlint.engine.fixing.edits import apply_edits
from nanlint.model import Applicability

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.confirm.harness import Harness
    from nanlint.model import Finding

_OUTCOME = re.compile(r"^(PASSED|FAILED|ERROR) \S*?(test_\w+)\.py", re.MULTILINE)


def on_saved(harness: Harness, findings: Iterable[Finding], root: Path, jobs: int) -> int:
    """Save, run, fix, run again; 1 if a proof does not do what it promises."""
    # The files are about to change, perhaps within the second that bytecode is told apart by.
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory(prefix="nanlint-proofs-") as folder:
        copy, proofs = Path(folder) / "fixtures", Path(folder) / "proofs"
        shutil.copytree(root / "fixtures", copy, ignore=shutil.ignore_patterns("__pycache__"))
        moved = [replace(one, path=str(copy / Path(one.path).relative_to(root / "fixtures"))) for one in findings]
        options = Options(device="cpu")
        done = Confirmer(options, jobs=jobs, fixed=fixed_text, save_to=str(proofs), harness=harness).confirm(moved)
        saved = {Path(one.verdict.repro): one for one in done if one.verdict is not None and one.verdict.repro}
        wrong = _tell("before the fixes, failing", saved, expected=1)
        mended = with_fixes(saved)
        return int(bool(wrong + _tell("after the fixes, passing", mended, expected=0)))


def _tell(when: str, saved: dict[Path, Finding], *, expected: int) -> int:
    """Run scripts and pytests, and print the share that does as promised; the number of those that do not."""
    ended = {script: exit_of(script) for script in saved}
    tests = pytest_exits(saved)
    wrong = [script for script in saved if ended[script] != expected or tests.get(script) != expected]
    for script in wrong:
        print(f"WRONG {script.name}: the script ended with {ended[script]}, the pytest with {tests.get(script)}")
    scripts, passed = (sum(one == expected for one in found.values()) for found in (ended, tests))
    print(f"saved proofs {when}: {scripts} of {len(saved)} scripts, {passed} of {len(saved)} pytests")
    return len(wrong)


def exit_of(script: Path) -> int | str:
    """How a script ends: its exit code, or what it raises. One process runs all, so that torch is imported once."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            return end.code or 0
        except Exception as error:  # noqa: BLE001 - the border to the scripts
            return f"{type(error).__name__}: {error}"
    return "no exit"


def pytest_exits(saved: Iterable[Path]) -> dict[Path, int]:
    """1 for each script whose pytest failed and 0 for each that passed, in one run of pytest over their folder."""
    tests = {script.name.replace("repro_", "test_", 1).removesuffix(".py"): script for script in saved}
    if not tests:
        return {}
    folder = next(iter(tests.values())).parent
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider", "--rootdir", "."]
    files = [f"{name}.py" for name in tests]
    run = subprocess.run(
        [*command, *files],
        cwd=folder,
        env=environment() | {"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "400"},
        capture_output=True,
        text=True,
        check=False,
    )
    return {tests[name]: int(outcome == "FAILED") for outcome, name in _OUTCOME.findall(run.stdout) if name in tests}


def with_fixes(saved: dict[Path, Finding]) -> dict[Path, Finding]:
    """Apply every fix that can be applied, file by file; the proofs of the findings that were mended."""
    by_file: dict[str, list[tuple[Path, Finding]]] = defaultdict(list)
    for script, one in saved.items():
        if one.fix is not None and one.fix.applicability is not Applicability.SHOW:
            by_file[one.path].append((script, one))
    mended: dict[Path, Finding] = {}
    for path, found in by_file.items():
        text = Path(path).read_text(encoding="utf-8")
        fixed, applied, _ = apply_edits(text, [one.fix for _, one in found if one.fix is not None])
        Path(path).write_text(fixed, encoding="utf-8")
        mended |= {script: one for script, one in found if one.fix in applied}
    return mended
