"""Known findings stay quiet by content, whatever happens around them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanlint.engine import baseline
from nanlint.engine.baseline import Baseline, Entry
from nanlint.errors import SettingsError
from nanlint.model import Finding, Severity, Span

LINE = "    loss = torch.log(probs)"
Files = dict[str, str]


class Project:
    """A folder with files in which every line that calls `log` is a finding."""

    def __init__(self, folder: Path, files: Files) -> None:
        self.folder = folder
        self.change(files)

    def change(self, files: Files) -> None:
        """Make these all the files there are."""
        for old in self.folder.glob("*.py"):
            old.unlink()
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def findings(self) -> list[Finding]:
        """In reading order, each with the function above it."""
        return [finding for path in sorted(self.folder.glob("*.py")) for finding in self._findings_of(path)]

    def _findings_of(self, path: Path) -> list[Finding]:
        found, function = [], ""
        for number, line in enumerate(self.lines_of(str(path), None), start=1):
            if line.startswith("def "):
                function = line[4 : line.index("(")]
            if "log(" in line:
                span = Span(number, 1, number, len(line) + 1)
                found.append(
                    Finding("NAN102", "log-of-zero", span, "m", Severity.ERROR, None, str(path), None, function)
                )
        return found

    def lines_of(self, path: str, _cell: int | None) -> list[str]:
        return Path(path).read_text(encoding="utf-8").splitlines()

    def write(self) -> None:
        baseline.write(self.folder / "base.json", self.findings(), self.lines_of)

    def woken(self) -> tuple[int, int, int]:
        """How many findings are new, known, and missed."""
        new, known, stale = Baseline.load(self.folder / "base.json").filter(self.findings(), self.lines_of)
        return len(new), known, stale


BEFORE = f"import torch\n\n\ndef f(probs):\n{LINE}\n    return loss\n"


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(BEFORE, id="nothing"),
        pytest.param("# new\n\n" + BEFORE, id="lines above"),
        pytest.param(BEFORE.replace(LINE, f"    if probs is not None:\n    {LINE}"), id="indentation"),
        pytest.param(BEFORE.replace(LINE, f"    probs = probs + 1\n\n{LINE}"), id="moved in its function"),
        pytest.param(BEFORE.replace("= torch.log(probs)", "=  torch.log( probs, )  # fine"), id="spacing and comments"),
        pytest.param(BEFORE.replace("def f", "def better_name"), id="the function's name"),
        pytest.param(BEFORE.replace("\n", "\r\n"), id="line ends"),
    ],
)
def test_a_known_finding_stays_quiet_when_what_changed_is(after: str, tmp_path: Path) -> None:
    project = Project(tmp_path, {"a.py": BEFORE})
    project.write()
    project.change({"a.py": after})
    assert project.woken() == (0, 1, 0)


@pytest.mark.parametrize(
    ("after", "woken"),
    [
        pytest.param(BEFORE.replace("(probs)\n", "(other)\n"), (1, 0, 1), id="another line"),
        pytest.param(BEFORE.replace(LINE, f"{LINE}\n{LINE}"), (1, 1, 0), id="a second equal line"),
        pytest.param(f"{BEFORE}\ndef g(probs):\n{LINE}\n", (1, 1, 0), id="an equal line in another function"),
        pytest.param(BEFORE.replace(LINE, "    loss = 0"), (0, 0, 1), id="none"),
    ],
)
def test_what_is_new_wakes_and_what_is_gone_is_counted(after: str, woken: tuple[int, int, int], tmp_path: Path) -> None:
    project = Project(tmp_path, {"a.py": BEFORE})
    project.write()
    project.change({"a.py": after})
    assert project.woken() == woken


def test_the_finding_that_wakes_is_the_one_in_the_new_function(tmp_path: Path) -> None:
    project = Project(tmp_path, {"a.py": BEFORE})
    project.write()
    project.change({"a.py": f"def early(probs):\n{LINE}\n\n{BEFORE}"})
    new, _, _ = Baseline.load(tmp_path / "base.json").filter(project.findings(), project.lines_of)
    assert [finding.function for finding in new] == ["early"]


def test_a_renamed_file_stays_quiet_and_a_copied_one_wakes(tmp_path: Path) -> None:
    project = Project(tmp_path, {"a.py": BEFORE})
    project.write()
    project.change({"b.py": BEFORE})
    renamed = project.woken()
    project.change({"a.py": BEFORE, "b.py": BEFORE})
    assert (renamed, project.woken()) == ((0, 1, 0), (1, 1, 0))


def test_only_what_was_looked_for_can_be_missed(tmp_path: Path) -> None:
    project = Project(tmp_path, {"a.py": BEFORE, "b.py": BEFORE, "c.py": BEFORE})
    project.write()
    known = Baseline.load(tmp_path / "base.json")
    findings = [finding for finding in project.findings() if finding.path.endswith("a.py")]
    assert (
        known.filter(findings, project.lines_of)[2],
        known.filter(findings, project.lines_of, looked_for=lambda entry: entry.path != "c.py")[2],
    ) == (2, 1)


def test_writing_keeps_what_was_not_looked_for(tmp_path: Path) -> None:
    project = Project(tmp_path, {"a.py": BEFORE, "b.py": BEFORE, "c.py": BEFORE})
    project.write()
    lines_of, path = project.lines_of, tmp_path / "base.json"
    change = baseline.write(path, [], lines_of, looked_for=lambda entry: entry.path == "a.py")
    assert (change, {entry.path for entry in Baseline.load(path).counts}) == ((0, 1, 2, 2), {"b.py", "c.py"})


def test_a_file_that_is_no_baseline_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "base.json"
    path.write_text('{"lr": 0.1}\n', encoding="utf-8")
    with pytest.raises(SettingsError, match="no baseline of nanlint"):
        baseline.write(path, [], lambda _path, _cell: ())
    assert path.read_text(encoding="utf-8") == '{"lr": 0.1}\n'


def test_the_file_is_sorted_has_one_finding_per_line_and_paths_from_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    twice = BEFORE.replace(LINE, f"{LINE}\n{LINE}")
    project = Project(tmp_path / "sub", {"é.py": "log(1)\n", "a.py": twice})
    baseline.write(tmp_path / "base.json", project.findings()[::-1], project.lines_of)
    assert (tmp_path / "base.json").read_text(encoding="utf-8") == (
        "{\n"
        '  "version": 1,\n'
        '  "findings": [\n'
        '    {"path": "sub/a.py", "code": "NAN102", "function": "f", "source": "loss = torch.log(probs)", "count": 2},\n'
        '    {"path": "sub/é.py", "code": "NAN102", "function": "", "source": "log(1)", "count": 1}\n'
        "  ]\n"
        "}\n"
    )


def test_no_findings_make_an_empty_baseline(tmp_path: Path) -> None:
    baseline.write(tmp_path / "base.json", [], lambda _path, _cell: ())
    assert Baseline.load(tmp_path / "base.json") == Baseline(str(tmp_path))
    assert json.loads((tmp_path / "base.json").read_text(encoding="utf-8")) == {"version": 1, "findings": []}


def test_paths_mean_the_same_from_every_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path, {"a.py": BEFORE})
    (finding,) = project.findings()
    monkeypatch.chdir(tmp_path)
    local = Finding(finding.code, finding.name, finding.span, "m", Severity.ERROR, None, "./a.py", None, "f")
    baseline.write("base.json", [local], project.lines_of)
    monkeypatch.chdir(tmp_path.parent)
    assert project.woken() == (0, 1, 0)


def test_cells_of_a_notebook_may_change_places(tmp_path: Path) -> None:
    cells = {1: ["y = x.log()"], 2: ["z = y.log()"]}
    moved = {1: ["import torch"], 2: ["z = y.log()"], 3: ["y  =  x.log()"]}

    def notebook(*numbers: int) -> list[Finding]:
        span = Span(1, 1, 1, 12)
        return [
            Finding("NAN102", "log-of-zero", span, "m", Severity.ERROR, None, str(tmp_path / "n.ipynb"), number)
            for number in numbers
        ]

    baseline.write(tmp_path / "base.json", notebook(1, 2), lambda _path, cell: cells[cell or 0])
    known = Baseline.load(tmp_path / "base.json")
    assert known.filter(notebook(2, 3), lambda _path, cell: moved[cell or 0]) == ([], 2, 0)


@pytest.mark.parametrize(
    ("lines", "source"),
    [
        pytest.param(["y = f(", "    x,  # why", "    '# no',", ")"], "y = f(x, '# no')", id="expression"),
        pytest.param(["for a in b:  # why", *["    a"] * 20], "for a in b:", id="block"),
        pytest.param(["  # nanlint:  ignroe"], "# nanlint: ignroe", id="comment"),
        pytest.param([], "", id="nothing to be read"),
    ],
)
def test_the_source_of_a_finding_is(lines: list[str], source: str, tmp_path: Path) -> None:
    finding = Finding("NAN102", "log-of-zero", Span(1, 1, max(len(lines), 1), 5), "m", Severity.ERROR, None, "a.py")
    baseline.write(tmp_path / "base.json", [finding], lambda _path, _cell: lines)
    assert [entry.source for entry in Baseline.load(tmp_path / "base.json").counts] == [source]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param('{\n  "version": 1,\n  oops', "line 3: no JSON (", id="no JSON"),
        pytest.param('{\n<<<<<<< HEAD\n"version": 1}', "resolve the merge conflict", id="merge conflict"),
        pytest.param("[]", "line 1: no baseline of nanlint", id="another kind of JSON"),
        pytest.param('{"version": 2}', "line 1: a baseline of version 2, and this nanlint reads version 1", id="newer"),
        pytest.param('{"version": 1}', '"findings" is no list', id="no findings"),
        pytest.param('{\n"version": 1,\n"findings": [\n{"path": "a"}\n]}', "line 4: an entry needs path,", id="keys"),
        pytest.param(
            '{"version": 1,\n"findings": [\n'
            '{"path": "a", "code": "N", "function": "", "source": "", "count": 1},\n'
            '{"path": "a", "code": "N", "function": "", "source": "", "count": 0}]}',
            "line 4: an entry needs",
            id="count",
        ),
        pytest.param('{"version": 1,\n"findings":[ 7 ]}', "line 2: an entry needs", id="no entry"),
    ],
)
def test_a_baseline_that_cannot_be_understood_names_file_line_and_next_step(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "base.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        Baseline.load(path)
    assert str(caught.value).startswith(f"{path}, line ")
    assert message in str(caught.value)
    assert str(caught.value).endswith("delete it and write a new one with --write-baseline")


def test_a_missing_baseline_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"base\.json: there is no baseline yet; write it with --write-baseline .*base\.json"
    ):
        Baseline.load(tmp_path / "base.json")


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        pytest.param(lambda path: path.mkdir(), "cannot be read", id="folder"),
        pytest.param(lambda path: path.write_bytes(b"\xff\xfe"), "not UTF-8", id="other encoding"),
    ],
)
def test_an_unreadable_baseline_is_one_line(prepare: object, message: str, tmp_path: Path) -> None:
    assert callable(prepare)
    prepare(tmp_path / "base.json")
    with pytest.raises(SettingsError, match=message):
        Baseline.load(tmp_path / "base.json")


def test_a_baseline_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^--write-baseline .*base\.json: cannot be written: No such file"):
        baseline.write(tmp_path / "missing" / "base.json", [], lambda _path, _cell: ())
    assert list(tmp_path.iterdir()) == []


ENTRIES = st.lists(
    st.builds(
        Entry,
        st.sampled_from(["a.py", "b.py", "gone.py"]),
        st.just("NAN102"),
        st.sampled_from("fg"),
        st.sampled_from("xy"),
    ),
    max_size=8,
)


@given(before=ENTRIES, after=ENTRIES)
def test_no_finding_is_counted_twice_and_more_of_them_always_wake(
    before: list[Entry], after: list[Entry], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "baseline"
    folder.mkdir(exist_ok=True)
    for name in ("a.py", "b.py"):
        (folder / name).touch()

    def findings(entries: list[Entry]) -> list[Finding]:
        return [
            Finding(
                entry.code,
                entry.source,
                Span(1, 1, 1, 2),
                "m",
                Severity.ERROR,
                None,
                str(folder / entry.path),
                i,
                entry.function,
            )
            for i, entry in enumerate(entries)
        ]

    def lines_of(entries: list[Entry]) -> baseline.LinesOf:
        return lambda _path, cell: [entries[cell or 0].source]

    baseline.write(folder / "base.json", findings(before), lines_of(before))
    new, known, stale = Baseline.load(folder / "base.json").filter(findings(after), lines_of(after))
    assert (len(new) + known, stale + known) == (len(after), len(before))
    assert (not new) if sorted(before) == sorted(after) else True
