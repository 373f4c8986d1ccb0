"""nanlint as a library: the three calls, local rules with options, and types that a type checker can rely on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import nanlint
from nanlint.errors import NanlintError, SettingsError, UsageError
from nanlint.settings import Settings
from tests.project import BROKEN, CHECKOUT, CLEAN, EXP, LOG, RULES, SQRT, Project, environment

LOCAL = Settings(local_rules=(str(RULES),), select=("LOC",))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project.make(tmp_path)


def codes(findings: list[nanlint.Finding] | tuple[nanlint.Finding, ...]) -> list[str]:
    return [finding.code for finding in findings]


# -- check_source -------------------------------------------------------------------------------------------------


def test_clean_source_has_no_findings() -> None:
    assert nanlint.check_source(CLEAN) == []


def test_a_finding_says_where_and_what() -> None:
    (finding,) = nanlint.check_source(LOG, "model.py", settings=LOCAL)
    assert (finding.code, finding.path, finding.span.line, finding.span.column, finding.function) == (
        "LOC101",
        "model.py",
        5,
        12,
        "entropy",
    )
    assert finding.message == "`torch.log(x)` is a logarithm"


def test_a_suppressed_finding_is_left_out() -> None:
    assert nanlint.check_source(LOG[:-1] + "  # nanlint: ignore[LOC101]\n", settings=LOCAL) == []


def test_settings_decide_what_is_shown() -> None:
    everything = Settings(local_rules=(str(RULES),), select=("LOC",), severity="info")
    both = EXP + LOG
    assert [codes(nanlint.check_source(both, settings=choice)) for choice in (LOCAL, everything)] == [
        ["LOC101"],
        ["LOC102", "LOC101"],
    ]


def test_local_rules_take_their_options_from_the_settings() -> None:
    settings = Settings(
        local_rules=(str(RULES),),
        select=("LOC",),
        rules={"bare-sqrt": {"noun": "radix", "severity": "info"}},
        severity="info",
    )
    (finding,) = nanlint.check_source(SQRT, settings=settings)
    assert (finding.message, finding.severity.value) == ("`torch.sqrt(x)` is a radix", "info")


def test_source_that_is_no_python_raises_what_python_raises() -> None:
    with pytest.raises(SyntaxError, match=r"never closed|invalid syntax") as caught:
        nanlint.check_source(BROKEN, "model.py", settings=LOCAL)
    assert (caught.value.filename, caught.value.lineno) == ("model.py", 4)


def test_a_rule_that_fails_raises(tmp_path: Path) -> None:
    source = (
        (RULES / "loc201_bare_sqrt.py").read_text().replace("        noun = str(", "        1 / 0\n        noun = str(")
    )
    (tmp_path / "rule.py").write_text(source)
    with pytest.raises(NanlintError, match=r"rule LOC201 bare-sqrt failed here \(ZeroDivisionError"):
        nanlint.check_source(SQRT, settings=Settings(local_rules=(str(tmp_path),), select=("LOC",)))


def test_wrong_settings_raise() -> None:
    with pytest.raises(SettingsError, match=r"there is no rule LOC11; did you mean LOC101[?]"):
        nanlint.check_source(CLEAN, settings=Settings(local_rules=(str(RULES),), select=("LOC11",)))


# -- check_paths --------------------------------------------------------------------------------------------------


def test_paths_are_files_folders_and_globs(project: Project) -> None:
    project.write("a.py", LOG)
    project.write("b/c.py", SQRT)
    project.write("d/e.py", LOG)
    report = nanlint.check_paths(["a.py", Path("b"), "d/*.py"])
    assert [(finding.path, finding.code) for finding in report.findings] == [
        ("a.py", "LOC101"),
        ("b/c.py", "LOC201"),
        ("d/e.py", "LOC101"),
    ]
    assert report.summary.files == 3


def test_keyword_arguments_are_settings_on_top_of_the_files(project: Project) -> None:
    project.write("a.py", LOG + SQRT)
    report = nanlint.check_paths(["a.py"], select=["bare-sqrt"])
    assert codes(report.findings) == ["LOC201"]


def test_what_cannot_be_checked_is_in_the_report(project: Project) -> None:
    project.write("a.py", BROKEN)
    report = nanlint.check_paths(["a.py", "none.py"])
    assert [(error.path, error.line) for error in report.errors] == [("a.py", 4), ("none.py", None)]


def test_a_report_knows_its_rules_and_lines(project: Project) -> None:
    project.write("a.py", LOG)
    report = nanlint.check_paths(["a.py"])
    assert list(report.rules) == ["LOC101"]
    assert (report.rules["LOC101"].name, report.rules["LOC101"].url) == ("bare-log", "")
    assert report.source_lines("a.py", None)[4] == "    return torch.log(x)"
    assert report.source_lines("gone.py", None) == ()


def test_a_report_knows_the_rules_of_nested_settings(project: Project) -> None:
    project.write("nanlint.toml", "")
    project.write("b/nanlint.toml", f"local-rules = ['{RULES}']\nselect = ['LOC']\n")
    project.write("b/c.py", LOG)
    assert list(nanlint.check_paths(["b"]).rules) == ["LOC101"]


def test_a_wrong_keyword_argument_raises(project: Project) -> None:
    project.write("a.py", CLEAN)
    with pytest.raises(UsageError, match="selct: no such setting"):
        nanlint.check_paths(["a.py"], selct=["LOC"])
    with pytest.raises(UsageError, match="select: must be a list of strings"):
        nanlint.check_paths(["a.py"], select="LOC")


def test_a_library_call_writes_nothing_unless_asked(project: Project) -> None:
    project.write("a.py", LOG)
    nanlint.check_paths(["a.py"])
    assert not (project.folder / ".nanlint_cache").exists()
    nanlint.check_paths(["a.py"], cache=True)
    assert (project.folder / ".nanlint_cache").exists()


def test_several_processes_find_the_same(project: Project) -> None:
    for name in "abc":
        project.write(f"{name}.py", LOG)
    assert nanlint.check_paths(["."], jobs=2).findings == nanlint.check_paths(["."]).findings


# -- explain, and the package itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["NAN110", "nan110", "log-of-softmax"])
def test_explain_is_the_page_of_a_rule(rule: str) -> None:
    assert nanlint.explain(rule) == nanlint.explain("NAN110")
    assert "\n## Why it hurts\n" in nanlint.explain(rule)


def test_explain_names_the_nearest_rule() -> None:
    with pytest.raises(UsageError, match="there is no rule log-of-sofmax; did you mean log-of-softmax"):
        nanlint.explain("log-of-sofmax")


def test_every_public_name_is_there_and_documented() -> None:
    for name in nanlint.__all__:
        assert name == "__version__" or getattr(nanlint, name).__doc__


def test_a_name_that_is_not_there_raises() -> None:
    with pytest.raises(AttributeError, match="module 'nanlint' has no attribute 'chekc_source'"):
        _ = nanlint.chekc_source  # type: ignore[attr-defined]


def test_importing_the_package_imports_nothing_of_it() -> None:
    program = "import sys, nanlint; print([name for name in sys.modules if name.startswith('nanlint')])"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "['nanlint']\n"


USE = """
from pathlib import Path

import nanlint
from nanlint.settings import Settings

findings: list[nanlint.Finding] = nanlint.check_source("x = 1", "a.py", settings=Settings(select=("NAN1",)))
report: nanlint.Report = nanlint.check_paths(["a.py", Path("b")], jobs=2, cache=True, select=["NAN1"])
lines: list[int] = [finding.span.line for finding in report.findings]
page: str = nanlint.explain("NAN110")
version: str = nanlint.__version__
"""
MISUSE = """
import nanlint

nanlint.check_source(b"x = 1")
nanlint.check_paths("a.py", jobs="2")
number: int = nanlint.explain("NAN110")
nanlint.chekc_source("x = 1")
"""


def type_errors(tmp_path: Path, own_folders: Path, program: str) -> list[str]:
    (tmp_path / "use.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(own_folders / "mypy"), "use.py"],
        cwd=tmp_path, env={**environment(), "MYPYPATH": str(CHECKOUT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line.startswith("use.py:")]


@pytest.mark.slow
def test_a_type_checker_understands_the_library(tmp_path: Path, own_folders: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    assert type_errors(tmp_path, own_folders, USE) == []


@pytest.mark.slow
def test_a_type_checker_finds_misuse(tmp_path: Path, own_folders: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    errors = type_errors(tmp_path, own_folders, MISUSE)
    assert [line.split(":")[1] for line in errors] == ["4", "5", "6", "7"]


RULE_OF_A_USER = '''
from nanlint.rule import Finding, Iterator, OpHazard, Rule, Severity, every


class NoLog(Rule):
    """A logarithm is taken."""

    code = "LOC901"
    name = "no-log"
    severity = Severity.WARNING
    hazards = (every("torch.log"),)
    options = {"limit": 1.0}

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        if self.option("limit"):
            yield self.told(hazard, hazard.text)
'''


@pytest.mark.slow
def test_a_type_checker_understands_a_rule_of_ones_own(tmp_path: Path, own_folders: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    assert type_errors(tmp_path, own_folders, RULE_OF_A_USER) == []
