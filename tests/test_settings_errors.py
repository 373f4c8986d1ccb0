"""What is wrong with a config file is said with file, line, key and the nearest right word; and the published schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

from nanlint.errors import SettingsError
from nanlint.settings import OUTPUT_FORMATS, Settings, SettingsFinder
from nanlint.settings.models import Options, kebab_case
from nanlint.settings.schema import SCHEMA_FILE, schema_text
from nanlint.settings.toml import parse_toml

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(project: Path, **files: str) -> str:
    """The whole message about a folder with these files (`nanlint` stands for nanlint.toml)."""
    for name, text in files.items():
        (project / f"{name}.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        SettingsFinder().for_path("a.py")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('selct = ["A"]', 'selct: no such setting; did you mean "select"?', id="misspelt key"),
        pytest.param("extend_select = []", 'extend_select: no such setting; did you mean "extend-select"?', id="snake"),
        pytest.param('Select = ["A"]', 'Select: no such setting; did you mean "select"?', id="capital letter"),
        pytest.param(
            "[tool.nanlint]",
            "tool: no such setting; outside pyproject.toml the settings stand at the top, without [tool.nanlint]",
            id="table of a pyproject",
        ),
        pytest.param(
            'severity = "warn"',
            'severity: "warn" is not one of error, warning, info; did you mean "warning"?',
            id="near word",
        ),
        pytest.param('fail-on = "never"', 'fail-on: "never" is not one of error, warning, info', id="far word"),
        pytest.param("fail-on = 3", "fail-on: 3 is not one of error, warning, info", id="number for a word"),
        pytest.param(
            'preview = "yes"', 'preview: must be true or false, not "yes"; did you mean true?', id="string for a bool"
        ),
        pytest.param(
            "preview = 0", "preview: must be true or false, not 0; did you mean false?", id="number for a bool"
        ),
        pytest.param(
            'select = "NAN1"',
            'select: must be a list of strings, not "NAN1"; did you mean ["NAN1"]?',
            id="string for a list",
        ),
        pytest.param("baseline = true", "baseline: must be a string, not true", id="bool for a path"),
        pytest.param('rules = ["NAN1"]', 'rules: must be a table, not ["NAN1"]', id="list for a table"),
        pytest.param("rules.NAN1 = false", "[rules] NAN1: must be a table, not false", id="bool for options"),
        pytest.param(
            "rules.NAN1.since = 2020-01-01",
            "[rules.NAN1] since: must be a string, number, boolean, list or table, not 2020-01-01",
            id="date for an option",
        ),
        pytest.param(
            'exclude = ["a[b"]', "exclude: the glob 'a[b' has a [ that nothing closes", id="glob that is none"
        ),
        pytest.param(
            'per-file-ignores = {"{a" = []}',
            "[per-file-ignores] \"{a\": the glob '{a' opens a { that it does not close",
            id="glob for a key",
        ),
    ],
)
def test_a_wrong_setting_is_named_with_the_next_step(project: Path, text: str, expected: str) -> None:
    assert complaint(project, nanlint=f"# a comment\n\n{text}\n") == f"nanlint.toml:3 {expected}"


def test_an_unknown_key_that_is_near_no_other_lists_them_all(project: Path) -> None:
    keys = ", ".join(kebab_case(name) for name in Options.model_fields)
    assert complaint(project, nanlint="xyzzy = 1") == f"nanlint.toml:1 xyzzy: no such setting; there are {keys}"


def test_a_message_about_a_pyproject_names_its_table(project: Path) -> None:
    text = '[project]\nname = "x"\n\n[tool.nanlint]\nselct = []\n\n[tool.nanlint.rules.NAN401]\nseverity = "fatal"\n'
    assert complaint(project, pyproject=text).splitlines() == [
        'pyproject.toml:5 [tool.nanlint] selct: no such setting; did you mean "select"?',
        'pyproject.toml:8 [tool.nanlint.rules.NAN401] severity: "fatal" is not one of error, warning, info',
    ]


def test_a_list_item_is_named_with_its_own_line(project: Path) -> None:
    text = 'ignore = [\n  "NAN1",\n  2,\n]\n'
    assert complaint(project, nanlint=text) == "nanlint.toml:3 ignore: item 2 must be a string, not 2"


def test_all_that_is_wrong_in_all_files_is_said_at_once(project: Path) -> None:
    base = 'fix = "on"\n'
    own = 'extend = "base.toml"\nunsafe-fixes = 2\n"per-file-ignores" = []\n'
    assert complaint(project, base=base, nanlint=own).splitlines() == [
        "nanlint.toml:2 unsafe-fixes: must be true or false, not 2",
        "nanlint.toml:3 per-file-ignores: must be a table, not []",
        'base.toml:1 fix: must be true or false, not "on"; did you mean true?',
    ]


def test_our_table_must_be_a_table(project: Path) -> None:
    expected = "pyproject.toml:2 [tool] nanlint: must be a table; write the settings under [tool.nanlint]"
    assert complaint(project, pyproject="[tool]\nnanlint = 3\n") == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param('fix = true\nselect = ["A"\nignore = []\n', 3, id="a comma is missing"),
        pytest.param("fix = true\n\nselect = [\n\n", 3, id="the file ends too early"),
        pytest.param("fix = true\nfix = false\n", 2, id="a key twice"),
    ],
)
def test_broken_toml_names_the_line(project: Path, text: str, line: int) -> None:
    assert complaint(project, nanlint=text).startswith(f"nanlint.toml:{line}: not valid TOML: ")


def test_bytes_that_are_no_text_name_the_line(project: Path) -> None:
    (project / "nanlint.toml").write_bytes(b'fix = true\nbaseline = "\xe4.json"\n')
    assert complaint(project) == "nanlint.toml:2: not valid TOML: byte 0xe4 is not UTF-8"


def test_a_circle_of_extends_names_the_chain(project: Path) -> None:
    files = {"nanlint": 'extend = "a.toml"', "a": 'extend = "b.toml"', "b": '\nextend = "a.toml"'}
    assert complaint(project, **files) == "b.toml:2 extend: goes in a circle: a.toml -> b.toml -> a.toml"


@pytest.mark.parametrize(
    ("extend", "expected"),
    [
        pytest.param("bse.toml", 'bse.toml does not exist; did you mean "base.toml"?', id="misspelt"),
        pytest.param("pyproject.toml", "pyproject.toml has no [tool.nanlint]", id="pyproject of others"),
        pytest.param(".", ". can't be read: Is a directory", id="folder"),
    ],
)
def test_an_extend_that_leads_nowhere_says_why(project: Path, extend: str, expected: str) -> None:
    message = complaint(project, base="", pyproject="[tool.ruff]", nanlint=f'extend = "{extend}"')
    assert message == f"nanlint.toml:1 extend: {expected}"


def test_a_broken_file_that_is_extended_is_named_itself(project: Path) -> None:
    message = complaint(project, base="=", nanlint='extend = "base.toml"\nfix = 1')
    assert [line.split(" ")[0] for line in message.splitlines()] == ["nanlint.toml:2", "base.toml:1:"]


def test_a_config_file_above_the_working_directory_is_named_in_full(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pkg").mkdir()
    (project / "nanlint.toml").write_text("fix = 1")
    monkeypatch.chdir(project / "pkg")
    assert complaint(project).startswith(f"{project}/nanlint.toml:1 fix: ")


def test_a_config_file_that_may_not_be_read_is_an_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, *, largest: int) -> None:
        raise PermissionError(13, "Permission denied", path, largest)

    (project / "nanlint.toml").write_text("")
    monkeypatch.setattr("nanlint.settings.finder.read_regular", refuse)
    assert complaint(project) == "nanlint.toml: can't be read: Permission denied"


# The published schema


def test_the_published_schema_is_current() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), "run python -m nanlint.settings.schema"


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        pytest.param('select = ["A"]\nrules.NAN401 = {max-norm = 5, severity = "info"}', True, id="right"),
        pytest.param('selct = ["A"]', False, id="misspelt key"),
        pytest.param('rules.X.severity = "fatal"', False, id="unknown severity"),
    ],
)
def test_the_schema_tells_right_from_wrong(text: str, valid: bool) -> None:  # noqa: FBT001 - the expected answer
    schema = json.loads(schema_text())
    assert jsonschema.Draft202012Validator(schema).is_valid(parse_toml(text)) is valid


def test_every_setting_can_be_written_described_and_has_the_default_we_run_with() -> None:
    properties = json.loads(schema_text())["properties"]
    ours = {kebab_case(name) for name in Settings._fields} - {"root", "config", "sources", "left-out-rules"}
    stated = {key: entry.get("default") for key, entry in properties.items() if key not in ("extend", "output-format")}
    defaults = json.loads(json.dumps({key: getattr(Settings(), key.replace("-", "_")) for key in stated}))
    assert (
        set(properties) - {"extend"},
        stated,
        [key for key in properties if "description" not in properties[key]],
    ) == (
        ours,
        defaults,
        [],
    )


def test_the_schema_knows_every_output_format() -> None:
    assert json.loads(schema_text())["properties"]["output-format"]["enum"] == list(OUTPUT_FORMATS)
