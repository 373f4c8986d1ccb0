"""Which settings hold for a file, and how files, inheritance and the command line add up."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from nanlint.errors import SettingsError, UsageError
from nanlint.settings import COMMAND_LINE, DEFAULT_EXCLUDE, DEFAULT_INCLUDE, Settings, SettingsFinder, settings_for
from nanlint.settings.show import show_settings
from nanlint.settings.toml import parse_toml

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def selected(path: str) -> tuple[str, ...]:
    return SettingsFinder().for_path(path).select


# Which file holds


def test_without_a_config_file_the_defaults_hold_in_the_working_directory(project: Path) -> None:
    assert settings_for("src") == Settings(root=str(project), include=DEFAULT_INCLUDE, exclude=DEFAULT_EXCLUDE)


def test_the_nearest_config_file_wins(project: Path) -> None:
    write(project, {"nanlint.toml": 'select = ["OUTER"]', "pkg/nanlint.toml": 'select = ["INNER"]'})
    finder = SettingsFinder()
    found = {path: finder.for_path(path).select for path in ("a.py", "pkg/a.py", "pkg/deep/er/a.py", "other/a.py")}
    assert found == {
        "a.py": ("OUTER",),
        "pkg/a.py": ("INNER",),
        "pkg/deep/er/a.py": ("INNER",),
        "other/a.py": ("OUTER",),
    }


def test_nanlint_toml_comes_before_pyproject_in_the_same_folder(project: Path) -> None:
    write(project, {"nanlint.toml": 'select = ["OWN"]', "pyproject.toml": '[tool.nanlint]\nselect = ["SHARED"]'})
    assert selected("a.py") == ("OWN",)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[tool.ruff]\nline-length = 100\n", id="never says our name"),
        pytest.param('[project]\ndependencies = ["nanlint"]\n', id="only depends on us"),
    ],
)
def test_a_pyproject_without_our_table_is_passed_by(project: Path, text: str) -> None:
    write(project, {"nanlint.toml": 'select = ["OUTER"]', "pkg/pyproject.toml": text})
    assert selected("pkg/a.py") == ("OUTER",)


def test_an_empty_table_of_ours_ends_the_search(project: Path) -> None:
    write(project, {"nanlint.toml": 'select = ["OUTER"]', "pkg/pyproject.toml": "[tool.nanlint]\n"})
    assert selected("pkg/a.py") == ()


def test_a_folder_named_like_a_config_file_is_passed_by(project: Path) -> None:
    write(project, {"nanlint.toml": 'select = ["OUTER"]', "pkg/nanlint.toml/a.py": ""})
    assert selected("pkg/a.py") == ("OUTER",)


def test_folders_with_the_same_config_file_share_one_object(project: Path) -> None:
    write(project, {"nanlint.toml": ""})
    finder = SettingsFinder()
    assert finder.for_path("a/b/x.py") is finder.for_path("c/y.py")


def test_every_folder_is_looked_at_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finder = SettingsFinder()
    finder.for_path(str(project / "pkg" / "a.py"))
    monkeypatch.setattr("nanlint.settings.finder._content", lambda path: pytest.fail(f"{path} is read again"))
    assert finder.for_path(str(project / "pkg" / "b.py")) is finder.for_path(str(project / "c.py"))


def test_config_names_the_file_for_every_path_and_globs_start_in_the_working_directory(project: Path) -> None:
    write(project, {"ci/strict.toml": 'select = ["CI"]\nbaseline = "known.json"', "pkg/nanlint.toml": "fix = true"})
    settings = SettingsFinder(config="ci/strict.toml").for_path("pkg/a.py")
    assert (settings.select, settings.fix, settings.root, settings.baseline) == (
        ("CI",),
        False,
        str(project),
        str(project / "ci" / "known.json"),
    )


def test_a_missing_config_file_is_named_with_the_nearest_one(project: Path) -> None:
    write(project, {"strict.toml": ""})
    with pytest.raises(UsageError) as caught:
        SettingsFinder(config="strct.toml")
    message = '--config: strct.toml can\'t be read: No such file or directory; did you mean "strict.toml"?'
    assert str(caught.value) == message


def test_config_may_not_name_a_pyproject_without_our_table(project: Path) -> None:
    write(project, {"pyproject.toml": "[project]\n"})
    with pytest.raises(UsageError, match=r"^--config: pyproject\.toml has no \[tool\.nanlint\]$"):
        SettingsFinder(config="pyproject.toml")


def test_isolated_reads_no_config_file(project: Path) -> None:
    write(project, {"nanlint.toml": "this is no TOML"})
    assert SettingsFinder(isolated=True).for_path("a.py") == Settings(root=str(project))


# Inheritance


def test_extend_replaces_lists_and_merges_the_rest(project: Path) -> None:
    write(
        project,
        {
            "base.toml": """
                select = ["NAN1"]
                ignore = ["NAN2"]
                extend-select = ["NAN3"]
                preview = true
                rules.NAN401 = {max-norm = 100, severity = "info"}
                rules.NAN404.severity = "error"
                [per-file-ignores]
                "test_*.py" = ["NAN1"]
                "conftest.py" = ["NAN2"]
            """,
            "nanlint.toml": """
                extend = "base.toml"
                select = ["NAN9"]
                extend-select = ["NAN4"]
                rules.NAN401.max-norm = 500
                per-file-ignores."conftest.py" = ["NAN8"]
            """,
        },
    )
    base, own = str(project / "base.toml"), str(project / "nanlint.toml")
    expected = Settings(
        root=str(project),
        config=own,
        select=("NAN9",),
        ignore=("NAN2",),
        extend_select=("NAN3", "NAN4"),
        preview=True,
        rules={"NAN401": {"max-norm": 500, "severity": "info"}, "NAN404": {"severity": "error"}},
        per_file_ignores={"test_*.py": ("NAN1",), "conftest.py": ("NAN8",)},
    )
    sources = {
        "select": (own,),
        "ignore": (base,),
        "extend_select": (own, base),
        "preview": (base,),
        "rules": (own, base),
        "per_file_ignores": (own, base),
    }
    assert settings_for(".") == expected._replace(sources=sources)


def test_paths_are_relative_to_the_file_that_states_them(project: Path) -> None:
    write(
        project,
        {
            ".git/HEAD": "",
            "shared/base.toml": 'local-rules = ["rules"]\nbaseline = "known.json"',
            "pkg/nanlint.toml": 'extend = "../shared/base.toml"\ncache-dir = "../cache"',
        },
    )
    settings = settings_for("pkg")
    assert (settings.local_rules, settings.baseline, settings.cache_dir) == (
        (str(project / "shared" / "rules"),),
        str(project / "shared" / "known.json"),
        str(project / "cache"),
    )


def test_globs_are_relative_to_the_file_that_states_them(project: Path) -> None:
    write(
        project,
        {
            "nanlint.toml": 'per-file-ignores = {"pkg/a.py" = ["OUTER"], "b.py" = ["NAME"], "!pkg/*" = ["REST"]}',
            "pkg/nanlint.toml": 'extend = "../nanlint.toml"\nper-file-ignores = {"sub/*.py" = ["INNER"]}',
        },
    )
    settings = settings_for("pkg")
    found = {name: settings.ignored_for(name) for name in ("pkg/a.py", "pkg/sub/a.py", "pkg/sub/b.py", "pkg/c.py")}
    assert found == {
        "pkg/a.py": ("OUTER",),
        "pkg/sub/a.py": ("INNER",),
        "pkg/sub/b.py": ("NAME", "INNER"),
        "pkg/c.py": (),
    }


def test_extend_may_name_a_pyproject(project: Path) -> None:
    write(
        project,
        {"base/pyproject.toml": '[tool.nanlint]\nselect = ["BASE"]', "nanlint.toml": 'extend = "base/pyproject.toml"'},
    )
    assert selected("a.py") == ("BASE",)


# The command line on top


def test_the_command_line_wins_over_files(project: Path) -> None:
    write(project, {"nanlint.toml": 'severity = "error"\nextend-exclude = ["one"]\nrules.NAN401.max-norm = 1'})
    overrides = {"severity": "info", "extend_exclude": ("two",), "rules": {"NAN401": {"severity": "error"}}}
    settings = SettingsFinder(overrides).for_path("a.py")
    assert (settings.severity, settings.extend_exclude, settings.rules, settings.sources["severity"]) == (
        "info",
        ("one", "two"),
        {"NAN401": {"max-norm": 1, "severity": "error"}},
        (COMMAND_LINE,),
    )


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        pytest.param({"ignore": ["C"]}, (("A",), ("D",), ("B", "C")), id="ignore adds to the file's"),
        pytest.param({"select": ["B"]}, (("B",), (), ()), id="select starts afresh"),
        pytest.param({"select": ["B"], "ignore": ["C"]}, (("B",), (), ("C",)), id="select with its own ignore"),
        pytest.param({"extend_select": ["B"]}, (("A",), ("D", "B"), ()), id="what is asked for is not ignored"),
    ],
)
def test_selecting_on_the_command_line_works_as_in_ruff(
    project: Path, overrides: dict[str, object], expected: tuple[object, ...]
) -> None:
    write(project, {"nanlint.toml": 'select = ["A"]\nextend-select = ["D"]\nignore = ["B"]'})
    settings = SettingsFinder(overrides).for_path("a.py")
    assert (settings.select, settings.extend_select, settings.ignore) == expected


def test_paths_and_globs_of_the_command_line_are_relative_to_the_working_directory(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, {"nanlint.toml": "", "pkg/a.py": ""})
    monkeypatch.chdir(project / "pkg")
    settings = SettingsFinder({"baseline": "known.json", "exclude": ["gen/*.py", "old"]}).for_path("a.py")
    assert (settings.baseline, settings.exclude) == (
        str(project / "pkg" / "known.json"),
        (f"{project}/pkg/gen/*.py", "old"),
    )


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        pytest.param({"severity": "fatal"}, "severity: 'fatal' is not one of error, warning, info", id="unknown word"),
        pytest.param({"select": "NAN1"}, "select: must be a list of strings, not 'NAN1'", id="a string for a list"),
        pytest.param({"selct": ["A"]}, "selct: no such setting; there are root, config, select,", id="unknown name"),
    ],
)
def test_a_wrong_override_is_a_usage_error(overrides: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        SettingsFinder(overrides)
    assert str(caught.value).startswith(message)


# What settings answer


def test_a_fingerprint_changes_with_what_can_change_findings_and_with_nothing_else() -> None:
    base = Settings(root="/here", select=("A", "B"), rules={"X": {"a": 1, "b": [1]}, "Y": {}})
    same = [
        Settings(root="/there", select=("B", "A"), rules={"Y": {}, "X": {"b": [1], "a": 1}}),
        Settings(select=("A", "B"), rules=base.rules, fix=True, output_format="json", exclude=("x",), fail_on="error"),
    ]
    other = [
        Settings(select=("A",), rules=base.rules),
        Settings(select=("A", "B"), rules={"X": {"a": 2, "b": [1]}, "Y": {}}),
        Settings(select=("A", "B"), rules=base.rules, severity="info"),
        Settings(select=("A", "B"), rules=base.rules, local_rules=("/rules",)),
        Settings(root="/here", select=("A", "B"), rules=base.rules, per_file_ignores={"a": ("A",)}),
        Settings(root="/there", select=("A", "B"), rules=base.rules, per_file_ignores={"a": ("A",)}),
    ]
    prints = {settings.fingerprint() for settings in (base, *same)}, {settings.fingerprint() for settings in other}
    assert (len(prints[0]), len(prints[1]), prints[0] & prints[1]) == (1, len(other), set())


def test_a_fingerprint_is_the_same_in_another_process() -> None:
    code = "from nanlint.settings import Settings; print(Settings(select=('A', 'B'), rules={'X': {}}).fingerprint())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == Settings(select=("B", "A"), rules={"X": {}}).fingerprint()


def test_settings_travel_between_processes() -> None:
    settings = Settings(root="/here", per_file_ignores={"*.py": ("A",)}, rules={"X": {"a": 1}})
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301 - our own bytes


def test_origin_names_the_place_of_a_value(project: Path) -> None:
    write(
        project,
        {
            "base.toml": 'ignore = [\n  "NAN2",\n  "NAN3",\n]\n',
            "pyproject.toml": """\
[tool.nanlint]
extend = "base.toml"
select = ["NAN1", "NAN11"]

[tool.nanlint.rules.NAN499]
max-norm = 5

[tool.nanlint.per-file-ignores]
"tests/**" = ["NAN8"]
""",
        },
    )
    settings = SettingsFinder({"extend_select": ["NAN7"]}).for_path("a.py")
    asked = {
        ("select", "NAN11"): "pyproject.toml:3 [tool.nanlint] select",
        ("ignore", "NAN3"): "base.toml:3 ignore",
        ("ignore", ""): "base.toml:1 ignore",
        ("extend_select", "NAN7"): "--extend-select",
        ("rules", "NAN499"): "pyproject.toml:5 [tool.nanlint.rules] NAN499",
        ("rules.NAN499", "max-norm"): "pyproject.toml:6 [tool.nanlint.rules.NAN499] max-norm",
        ("per_file_ignores", "NAN8"): 'pyproject.toml:9 [tool.nanlint.per-file-ignores] "tests/**"',
        ("select", "NAN99"): "pyproject.toml:3 [tool.nanlint] select",
        ("baseline", ""): "baseline",
    }
    assert {question: settings.origin(*question) for question in asked} == asked


def test_origin_of_a_value_whose_file_is_gone_is_its_key(project: Path) -> None:
    write(project, {"nanlint.toml": 'select = ["NAN1"]'})
    settings = settings_for(".")
    (project / "nanlint.toml").unlink()
    assert settings.origin("select", "NAN1") == "select"


def test_shown_settings_are_toml_and_say_where_they_come_from(project: Path) -> None:
    write(
        project, {"nanlint.toml": '\nseverity = "info"\nper-file-ignores = {"a b.py" = ["NAN1"]}\nrules.X.y = [1.5]\n'}
    )
    out = io.StringIO()
    show_settings(SettingsFinder({"fix": True}).for_path("a.py"), out)
    shown = parse_toml(out.getvalue())
    lines = out.getvalue().splitlines()
    assert (shown["severity"], shown["fix"], shown["per-file-ignores"], shown["rules"], lines[0], lines[1]) == (
        "info",
        True,
        {"a b.py": ["NAN1"]},
        {"X": {"y": [1.5]}},
        "# config: nanlint.toml",
        f"# root: {project}",
    )
    assert {
        'severity = "info"  # nanlint.toml:2',
        "fix = true  # command line",
        "preview = false  # default",
        "[per-file-ignores]  # nanlint.toml:3",
    } <= set(lines)


# What is remembered, and what is imported

HEAVY = ("pydantic", "pydantic_core", "tomllib", "tomli", "pathspec", "libcst", "rich", "pathlib", "json")


def heavy_imports(folder: Path, memo_dir: str | None = None) -> list[str]:
    """What a fresh process imports to find the settings of a file in `folder`."""
    code = f"""
import sys
from nanlint.settings import SettingsFinder
SettingsFinder({{"fix": True}}, memo_dir={memo_dir!r}).for_path("a.py")
print(*(name for name in {HEAVY!r} if name in sys.modules))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    # -S: what site-packages import at start-up is none of ours.
    command = [sys.executable, "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=environment)
    return done.stdout.split()


def test_without_a_config_file_nothing_heavy_is_imported(project: Path) -> None:
    write(project, {"pyproject.toml": "[tool.ruff]\n"})
    assert heavy_imports(project, str(project / "memo")) == []


def test_a_config_file_is_judged_once_and_then_remembered(project: Path) -> None:
    write(project, {"base.toml": "preview = true", "nanlint.toml": 'extend = "base.toml"'})
    memo = str(project / "memo")
    first, second = heavy_imports(project, memo), heavy_imports(project, memo)
    assert ("pydantic" in first, set(second) & {"pydantic", "pydantic_core", "tomllib", "tomli"}) == (True, set())


def test_a_pyproject_that_only_depends_on_us_is_remembered_too(project: Path) -> None:
    write(project, {"pyproject.toml": '[project]\ndependencies = ["nanlint"]\n'})
    memo = str(project / "memo")
    heavy_imports(project, memo)
    assert set(heavy_imports(project, memo)) & {"pydantic", "tomllib", "tomli"} == set()


FULL = """
extend = "base.toml"
select = ["NAN1"]
exclude = ["gen/*"]
cache-dir = "cache"
rules.NAN401 = {max-norm = 500, names = ["a"], limit = inf}
per-file-ignores."t/*" = ["NAN2"]
"""


def remembered(memo: Path) -> Settings:
    return SettingsFinder(memo_dir=str(memo)).for_path("a.py")


def test_remembered_settings_are_the_judged_ones(project: Path) -> None:
    write(project, {"base.toml": 'extend-select = ["NAN3"]', "nanlint.toml": FULL})
    first, second, plain = remembered(project / "memo"), remembered(project / "memo"), settings_for(".")
    assert (first, first.sources, second, second.sources) == (plain, plain.sources, plain, plain.sources)


@pytest.mark.parametrize("name", ["nanlint.toml", "base.toml"])
def test_an_edit_anywhere_in_the_chain_is_seen(project: Path, name: str) -> None:
    write(project, {"base.toml": "", "nanlint.toml": 'extend = "base.toml"'})
    before = remembered(project / "memo").preview
    with (project / name).open("a") as file:
        file.write("\npreview = true\n")
    after = remembered(project / "memo").preview
    assert (before, after, len(list((project / "memo").iterdir()))) == (False, True, 1)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"files": {', id="cut off"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"files": {}, "values": {"sources": {}, "preview": true}}', id="speaks of no file"),
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(b"[" * 200_000, id="nested beyond measure"),
        pytest.param(
            b'{"files": {"FILE": "DIGEST"}, "values": {"sources": {}, "ignore": ["ALL"]}}', id="says ignore ALL"
        ),
        pytest.param(b'{"files": 3, "values": null}', id="wrong types"),
        pytest.param(b'{"files": {"FILE": "DIGEST"}, "values": {"sources": {}, "colour": 1}}', id="unknown field"),
    ],
)
def test_a_broken_memo_is_ignored_and_replaced(project: Path, content: bytes) -> None:
    write(project, {"nanlint.toml": 'select = ["NAN1"]'})
    expected = remembered(project / "memo")
    (memo,) = (project / "memo").iterdir()
    good = memo.read_bytes()
    seal, _, text = good.partition(b"\n")
    ((file, digest),) = json.loads(text)["files"].items()
    memo.write_bytes(seal + b"\n" + content.replace(b"FILE", file.encode()).replace(b"DIGEST", digest.encode()))
    assert (remembered(project / "memo"), memo.read_bytes()) == (expected, good)


def test_a_memo_of_another_version_is_not_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, {"nanlint.toml": 'select = ["NAN1"]'})
    remembered(project / "memo")
    monkeypatch.setattr("nanlint.__version__", "99")
    remembered(project / "memo")
    assert len(list((project / "memo").iterdir())) == 2


def test_a_memo_that_cannot_be_written_stops_nobody(project: Path) -> None:
    write(project, {"nanlint.toml": 'select = ["NAN1"]', "memo": "a file, no folder"})
    assert remembered(project / "memo").select == ("NAN1",)


def test_a_wrong_config_file_is_not_remembered(project: Path) -> None:
    write(project, {"nanlint.toml": "selct = []"})
    with pytest.raises(SettingsError):
        remembered(project / "memo")
    assert not (project / "memo").exists()
