"""What can be wrong with one file or one rule: one clear line each, the rest goes on, and the exit code as documented."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from nanlint.engine import check_file
from nanlint.source.discover import discover
from tests.project import (
    BROKEN,
    LOG,
    LOG_FOUND,
    Outcome,
    Project,
    environment,
    needs_root,
    open_project,
    run_as_nobody,
)

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
TOO_DEEP = "nested too deeply to be read; the file was not checked"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with one finding, whatever else is wrong in it."""
    return Project.make(tmp_path, a=LOG)


def error_lines(outcome: Outcome) -> list[str]:
    """The lines of a concise report that are about what could not be checked."""
    return [line for line in outcome.out.splitlines() if ": error: " in line]


def assert_one_error(project: Project, line: str) -> None:
    """One line of error, the finding all the same, 1 for the finding, and 2 if that was asked for."""
    outcome = project.check()
    assert (outcome.code, error_lines(outcome), outcome.err) == (1, [line], "")
    assert LOG_FOUND in outcome.out
    assert outcome.out.endswith("1 file could not be fully checked.\n")
    assert project.check("--strict").code == 2


# -- files that cannot be read ------------------------------------------------------------------------------------


def test_a_syntax_error_is_one_line(project: Project) -> None:
    project.write("b.py", BROKEN)
    outcome = project.check()
    (line,) = error_lines(outcome)
    assert line.startswith(f"b.py:4: error: not valid {PYTHON}: ")
    assert line.endswith("; the file was not checked")
    assert (outcome.code, LOG_FOUND in outcome.out) == (1, True)


def test_python_2_is_one_line(project: Project) -> None:
    project.write("b.py", "import torch\nprint torch.log(1)\n")
    (line,) = error_lines(project.check())
    assert line.startswith(f"b.py:2: error: not valid {PYTHON}: ")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        pytest.param(
            b"import torch\ntorch.log(x)  # \xff\n",
            "b.py:2: error: not valid UTF-8 at byte 29 (line 2); declare its encoding in the first line or save it as UTF-8",
            id="no UTF-8",
        ),
        pytest.param(
            b"x = 1\n# \xff\n",
            "b.py:2: error: not valid UTF-8 at byte 8 (line 2); declare its encoding in the first line or save it as UTF-8",
            id="no UTF-8 in a file without torch",
        ),
        pytest.param(
            b"import torch\ntorch.log(\0)\n",
            "b.py:2: error: null byte at byte 23 (line 2); remove it or exclude the file",
            id="a null byte",
        ),
        pytest.param(
            "import torch\ntorch.log(x)\n".encode("utf-16"),
            "b.py:1: error: UTF-16 or UTF-32, which Python does not read; save it as UTF-8",
            id="UTF-16",
        ),
        pytest.param(
            b"# coding: klingon\nimport torch\ntorch.log(x)\n",
            "b.py:1: error: declares klingon, which is no text encoding that Python knows",
            id="an unknown encoding",
        ),
    ],
)
def test_a_file_that_cannot_be_decoded_is_one_line(project: Project, content: bytes, line: str) -> None:
    project.write("b.py", content)
    assert_one_error(project, line)


def test_a_notebook_that_is_none_is_one_line(project: Project) -> None:
    project.write("b.ipynb", "{")
    outcome = project.check()
    (line,) = error_lines(outcome)
    assert line.startswith("b.ipynb:1: error: not a notebook: ")
    assert LOG_FOUND in outcome.out


def test_a_file_that_vanishes_after_it_was_found_is_one_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = project.write("b.py", LOG)

    def and_delete(*args: object, **kwargs: object) -> object:
        result = discover(*args, **kwargs)  # type: ignore[arg-type] # handed on as they came
        gone.unlink()
        return result

    with monkeypatch.context() as patched:
        patched.setattr("nanlint.engine.check_paths.discover", and_delete)
        outcome = project.check()
    assert (outcome.code, error_lines(outcome)) == (1, ["b.py: error: no such file; was it moved or deleted?"])
    assert LOG_FOUND in outcome.out


def test_a_link_to_nothing_is_one_line(project: Project) -> None:
    (project.folder / "b.py").symlink_to("nowhere.py")
    assert_one_error(project, "b.py: error: the symbolic link leads nowhere")


def test_a_file_of_data_is_one_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nanlint.source.read.LARGEST_FILE", 10_000)
    project.write("b.py", LOG + "# " + "x" * 20_000 + "\n")
    assert_one_error(project, "b.py: error: 0.0 MB, and files above 0 MB are not read; exclude it")


@pytest.mark.slow
@needs_root
def test_a_file_without_permission_is_one_line() -> None:
    with open_project(a=LOG, b=LOG) as project:
        (project.folder / "b.py").chmod(0)
        outcome = run_as_nobody(project, "check")
    denied = "b.py: error: permission denied; make it readable or exclude it"
    assert (outcome.code, error_lines(outcome)) == (1, [denied])
    assert LOG_FOUND in outcome.out


@pytest.mark.slow
@needs_root
def test_a_folder_without_permission_is_one_line() -> None:
    with open_project(a=LOG) as project:
        project.write("closed/b.py", LOG)
        (project.folder / "closed").chmod(0)
        outcomes = [run_as_nobody(project, *words) for words in (["check"], ["check", "--strict"], ["check", "closed"])]
    denied = ["closed: error: the folder can't be read: Permission denied"]
    assert [(outcome.code, error_lines(outcome)) for outcome in outcomes] == [(1, denied), (2, denied), (2, denied)]
    assert LOG_FOUND in outcomes[0].out


@pytest.mark.slow
@needs_root
def test_a_folder_that_cannot_be_written_keeps_the_findings_that_fix_would_mend() -> None:
    with open_project(a=LOG) as project:
        (project.folder / "a.py").chmod(0o666)
        outcome = run_as_nobody(project, "check", "--fix")
        assert project.read("a.py") == LOG
    assert (outcome.code, LOG_FOUND in outcome.out) == (1, True)
    (line,) = error_lines(outcome)
    assert line.startswith("a.py: error: not changed: no permission to write in folder ")


# -- files that are hard to read ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_file_of_200_000_lines_is_checked(project: Project) -> None:
    filler = "VALUES = [\n" + "    0.5,\n" * 199_990 + "]\n"
    project.write("a.py", filler + LOG)
    outcome = project.check("-q")
    assert outcome == (1, LOG_FOUND.replace(":5:", ":199997:"), "")


def test_a_huge_line_is_checked(project: Project) -> None:
    project.write("a.py", f"TABLE = {list(range(200_000))}\n{LOG}")
    assert project.check("-q").out == LOG_FOUND.replace(":5:", ":6:")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param(b"\xef\xbb\xbf" + LOG.encode(), ":5:12:", id="a byte order mark"),
        pytest.param(LOG.replace("\n", "\r\n").encode(), ":5:12:", id="CRLF"),
        pytest.param(LOG.replace("\n", "\r").encode(), ":5:12:", id="CR alone"),
        pytest.param(LOG.replace("\n\n\n", "\n\f\n\n").encode(), ":5:12:", id="a form feed"),
        pytest.param(LOG.rstrip("\n").encode(), ":5:12:", id="no newline at the end"),
        pytest.param(LOG.replace("return", '"é"; return').encode(), ":5:17:", id="an accent before it"),
        pytest.param(b"# coding: latin-1\n# \xe9\n" + LOG.encode(), ":7:12:", id="a declared encoding"),
        pytest.param(
            LOG.replace("torch.log(x)", "torch.log(x), '\u2028'").encode(), ":5:12:", id="a line separator in a string"
        ),
        pytest.param(LOG.replace("    return", "\treturn").encode(), ":5:9:", id="a tab"),
    ],
)
def test_a_finding_is_placed_where_an_editor_shows_it(project: Project, content: bytes, place: str) -> None:
    project.write("a.py", content)
    outcome = project.check("-q")
    assert (outcome.out[:4] + outcome.out[4 : 4 + len(place)], error_lines(outcome)) == (f"a.py{place}", [])


@pytest.mark.parametrize(
    "content", ["", "\n", "# torch.log\n", "\f"], ids=["empty", "a newline", "a comment", "a form feed"]
)
def test_a_file_with_nothing_in_it_is_clean(project: Project, content: str) -> None:
    project.write("a.py", content)
    assert project.check() == (0, "All clear: 1 file checked.\n", "")


DEEP = {
    "a sum of 3,000 terms": "    return " + " + ".join(["torch.log(x)"] * 3_000) + "\n",
    "90 parentheses": "    return " + "(" * 90 + "torch.log(x)" + ")" * 90 + "\n",
    "1,000 parentheses": "    return " + "(" * 1_000 + "torch.log(x)" + ")" * 1_000 + "\n",
    "calls in calls": "    return " + "torch.log(" * 150 + "x" + ")" * 150 + "\n",
    "2,000 minus signs": "    return " + "-" * 2_000 + "torch.log(x)\n",
    "1,100 branches of an elif": "    if x == 0:\n        pass\n"
    + "".join(f"    elif x == {number}:\n        y = torch.log(x)\n" for number in range(1_100)),
    "90 nested blocks": "".join(f"{'    ' * (depth + 1)}if x:\n" for depth in range(90))
    + "    " * 91
    + "return torch.log(x)\n",
    "2,000 attributes": "    return torch.log(x)" + ".a" * 2_000 + "\n",
    "a dictionary in a dictionary": "    return " + "{1: " * 150 + "torch.log(x)" + "}" * 150 + "\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("body", DEEP.values(), ids=DEEP.keys())
def test_deep_nesting_is_checked_or_told_in_one_line_and_never_ends_the_run(project: Project, body: str) -> None:
    project.write("b.py", f"import torch\n\n\ndef deep(x):\n{body}")
    outcome = project.spawn("check", "--no-cache", "--select", "LOC101")
    lines = error_lines(outcome)
    found = outcome.out.count("b.py:") - len(lines)
    assert (outcome.code, outcome.err, LOG_FOUND in outcome.out) == (1, "", True)
    assert (found > 0) != (len(lines) == 1)
    assert all("nested too deeply" in line or "too many nested parentheses" in line for line in lines)


def test_deep_nesting_in_one_function_leaves_the_others_checked_or_tells_of_the_whole_file(project: Project) -> None:
    deep = DEEP["a sum of 3,000 terms"]
    project.write("b.py", f"{LOG}\n\ndef deep(x):\n{deep}")
    outcome = project.check()
    assert LOG_FOUND.replace("a.py", "b.py") in outcome.out or f"b.py: error: {TOO_DEEP}" in outcome.out


# -- rules that fail ----------------------------------------------------------------------------------------------

RULE = '''
from nanlint.rule import Rule, Severity, every


class Failing(Rule):
    """A rule that fails."""

    code = "FAI001"
    name = "failing"
    severity = Severity.WARNING
    hazards = (every("torch.log"),)

    def check(self, hazard):
        {body}
'''


def with_rule(project: Project, source: str) -> None:
    """Add a rule file to the project, beside a copy of LOC101's folder."""
    project.write("rules/failing.py", source)
    text = project.read("nanlint.toml").replace("local-rules = [", 'local-rules = ["rules", ')
    project.write("nanlint.toml", text.replace('["LOC"]', '["LOC", "FAI"]'))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("raise KeyError('x')", "KeyError: 'x'", id="raises"),
        pytest.param("return None", "TypeError: 'NoneType' object is not iterable", id="returns nothing"),
        pytest.param("yield 1", "TypeError: it yields int, and a rule yields Finding", id="yields a number"),
        pytest.param("raise SystemExit(0)", "SystemExit: 0", id="exits"),
        pytest.param("hazard.no_such_question()", "AttributeError: ", id="asks what a hazard cannot answer"),
        pytest.param("return self.check(hazard)", "RecursionError: ", id="calls itself"),
        pytest.param(
            "import dataclasses; yield dataclasses.replace(self.told(hazard, 'x'), code='X1')",
            "ValueError: it yields a finding of X1",
            id="yields another rule's finding",
        ),
    ],
)
def test_a_rule_that_fails_is_named_and_the_others_go_on(project: Project, body: str, reason: str) -> None:
    with_rule(project, RULE.format(body=body))
    outcome = project.check("a.py")
    (line,) = error_lines(outcome)
    assert line.startswith(f"a.py:5: error: rule FAI001 failing failed here ({reason}")
    assert line.endswith("); the other rules went on")
    assert (outcome.code, LOG_FOUND in outcome.out) == (1, True)
    assert project.check("--strict", "a.py").code == 2


def test_what_a_rule_found_before_it_failed_is_kept(project: Project) -> None:
    with_rule(project, RULE.format(body="yield self.told(hazard, 'found'); 1 / 0"))
    outcome = project.check("a.py")
    assert "a.py:5:12: FAI001 found [failing]" in outcome.out
    assert len(error_lines(outcome)) == 1


def test_a_rule_that_fails_often_is_named_once_for_each_file(project: Project) -> None:
    with_rule(project, RULE.format(body="raise KeyError('x')"))
    project.write("a.py", LOG * 5)
    assert len(error_lines(project.check("a.py"))) == 1


def test_a_developer_of_a_rule_may_ask_for_the_traceback(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANLINT_RAISE", "1")
    with_rule(project, RULE.format(body="raise KeyError('x')"))
    outcome = project.check("a.py")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("Traceback")
    assert "KeyError: 'x'" in outcome.err


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        pytest.param(
            "import torch_lint_helpers\n",
            "rules/failing.py:1: cannot be imported (ModuleNotFoundError: No module named 'torch_lint_helpers')",
            id="an import that fails",
        ),
        pytest.param("x = 1\n\nclass A(:\n", "rules/failing.py:3: cannot be imported (SyntaxError: ", id="no Python"),
        pytest.param("x = 1\n1 / 0\n", "rules/failing.py:2: cannot be imported (ZeroDivisionError: ", id="raises"),
        pytest.param("import sys\nsys.exit()\n", "rules/failing.py:2: cannot be imported (SystemExit: )", id="exits"),
        pytest.param(
            "x = 1\n",
            "rules/failing.py: holds no rule; a rule is a class that inherits from nanlint.rule.Rule"
            " (what rules share goes to a file whose name begins with an underscore)",
            id="no rule in it",
        ),
        pytest.param(
            RULE.format(body="return iter(())").replace('    code = "FAI001"\n', ""),
            "rules/failing.py: Failing lacks `code`",
            id="no code",
        ),
        pytest.param(
            RULE.format(body="return iter(())").replace("FAI001", "fai-1"),
            "rules/failing.py: Failing has the code 'fai-1'; a code is capital letters and then digits, such as LOC001",
            id="a code that is none",
        ),
        pytest.param(
            RULE.format(body="return iter(())").replace('"failing"', '"Failing Rule"'),
            "rules/failing.py: Failing has the name 'Failing Rule'; a name is small words joined by hyphens",
            id="a name that is none",
        ),
        pytest.param(
            RULE.format(body="return iter(())").replace("Severity.WARNING", '"warning"'),
            "rules/failing.py: Failing has the severity 'warning'; write Severity.ERROR, WARNING or INFO",
            id="a severity that is none",
        ),
        pytest.param(
            RULE.format(body="return iter(())").replace('(every("torch.log"),)', '()\n    beside = "log"'),
            "rules/failing.py: Failing needs a frozenset for `beside`",
            id="a text for words",
        ),
        pytest.param(
            RULE.format(body="return iter(())")
            .replace('every("torch.log")', 'zone("torch.abs", "input")')
            .replace("every", "every, zone", 1),
            'rules/failing.py: Failing watches for zones of torch.abs, which has none; write every("torch.abs") to be shown every call of it',
            id="zones that are not there",
        ),
        pytest.param(
            RULE.format(body="return iter(())").replace('    """A rule that fails."""\n', ""),
            "rules/failing.py: Failing lacks a docstring, which is its page",
            id="no docstring",
        ),
        pytest.param(
            RULE.format(body="return iter(())").replace("FAI001", "NAN110"),
            "rules/failing.py: NAN110 is taken by ",
            id="a code that is taken",
        ),
        pytest.param(
            RULE.format(body="return iter(())").replace('"failing"', '"log-of-softmax"'),
            "rules/failing.py: log-of-softmax is taken by ",
            id="a name that is taken",
        ),
    ],
)
def test_a_rule_file_that_is_wrong_fails_the_run_with_one_line(project: Project, source: str, complaint: str) -> None:
    with_rule(project, source)
    outcome = project.check("a.py")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert outcome.err.startswith(f"nanlint: {complaint}")


def test_a_folder_of_rules_that_is_not_there_fails_the_run_with_one_line(project: Project) -> None:
    project.write("nanlint.toml", 'local-rules = ["rulse"]\n')
    message = "nanlint: rulse: cannot read this folder of rules (No such file or directory)\n"
    assert project.check("a.py") == (2, "", message)


def test_base_classes_of_rules_begin_with_an_underscore(project: Project) -> None:
    source = RULE.format(body="yield self.told(hazard, 'based')")
    base, _, _ = source.partition("    code =")
    with_rule(
        project,
        base.replace("class Failing", "class _Base") + "\n" + source.replace("(Rule)", "(_Base)"),
    )
    assert "a.py:5:12: FAI001 based [failing]" in project.check("a.py").out


# -- nanlint itself -----------------------------------------------------------------------------------------------


def test_a_crash_of_nanlint_on_one_file_is_one_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("b.py", LOG)
    check = check_file.check_path

    def crash(path: str, *rest: Any, **named: Any) -> object:
        if path == "b.py":
            raise IndexError("list index out of range")
        return check(path, *rest, **named)

    monkeypatch.setattr("nanlint.engine.checker.check_path", crash)
    reason = "IndexError: list index out of range"
    assert_one_error(project, f"b.py: error: nanlint failed on this file ({reason}); please report it")


def test_a_crash_while_one_file_is_fixed_is_one_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*args: object, **kwargs: object) -> object:
        raise IndexError(f"{len(args)} {len(kwargs)}")

    monkeypatch.setattr("nanlint.cli.checking.rewrite.fixed", crash)
    outcome = project.check("--fix")
    assert (outcome.code, LOG_FOUND in outcome.out, len(error_lines(outcome))) == (1, True, 1)
    assert project.read("a.py") == LOG


@pytest.mark.skipif(os.name != "posix", reason="a folder in use cannot be removed elsewhere")
def test_a_working_directory_that_is_gone_is_told(project: Project) -> None:
    folder = project.folder / "gone"
    folder.mkdir()
    program = "import os, sys; os.rmdir(os.getcwd()); from nanlint.cli.main import main; sys.exit(main(['check']))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    message = "nanlint: the working directory is gone or closed to you: No such file or directory\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
