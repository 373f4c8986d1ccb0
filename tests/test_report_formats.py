"""What holds for every format alike."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys

import pytest

from nanlint.report import FORMATS
from tests.report_samples import SAMPLES, WITH_FIX, rendered, report_of

every_format = pytest.mark.parametrize("format_name", FORMATS)
every_sample = pytest.mark.parametrize("sample", SAMPLES)

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def test_the_formats_are_those_the_command_line_offers() -> None:
    assert FORMATS == ("full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson")


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    known = "full, concise, json, jsonl, sarif, github, gitlab, junit, rdjson"
    with pytest.raises(ValueError, match=f"there is no report format 'html'; choose one of {known}"):
        rendered(report_of(), "html")


@every_format
@every_sample
def test_the_same_report_gives_the_same_text(format_name: str, sample: str) -> None:
    assert rendered(SAMPLES[sample], format_name) == rendered(SAMPLES[sample], format_name)


@every_format
@every_sample
def test_a_report_ends_with_one_line_break_if_it_says_anything(format_name: str, sample: str) -> None:
    text = rendered(SAMPLES[sample], format_name)
    assert text == "" or re.search(r"[^\n]\n\Z", text)


@pytest.mark.parametrize("format_name", ["jsonl", "github"])
def test_a_stream_is_empty_when_nothing_was_found(format_name: str) -> None:
    assert rendered(report_of(), format_name) == ""


@every_sample
def test_the_colours_of_full_change_no_character(sample: str) -> None:
    assert ANSI.sub("", rendered(SAMPLES[sample], "full", colour=True)) == rendered(SAMPLES[sample], "full")


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name != "nothing found"])
def test_full_has_colours_when_asked(sample: str) -> None:
    assert ANSI.search(rendered(SAMPLES[sample], "full", colour=True))


@pytest.mark.parametrize("format_name", [name for name in FORMATS if name != "full"])
@every_sample
def test_only_full_has_colours(format_name: str, sample: str) -> None:
    assert rendered(SAMPLES[sample], format_name, colour=True) == rendered(SAMPLES[sample], format_name)


@every_sample
def test_full_without_colours_holds_no_escape_sequence(sample: str) -> None:
    assert "\x1b" not in rendered(SAMPLES[sample], "full")


@pytest.mark.parametrize("variable", ["NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS"])
@pytest.mark.parametrize("colour", [True, False], ids=["colours on", "colours off"])
def test_the_environment_has_no_say_in_colours_and_width(
    monkeypatch: pytest.MonkeyPatch, variable: str, *, colour: bool
) -> None:
    expected = rendered(SAMPLES["everything"], "full", colour=colour)
    monkeypatch.setenv(variable, "1")
    assert rendered(SAMPLES["everything"], "full", colour=colour) == expected


@every_format
def test_a_path_that_is_no_unicode_can_still_be_written(format_name: str) -> None:
    finding = dataclasses.replace(WITH_FIX, path="bad\udcff.py")
    assert rendered(report_of(finding), format_name).encode("utf-8").count(b"bad") >= 1


def modules_after(statement: str) -> set[str]:
    """The modules a fresh interpreter holds after the statement."""
    code = f"import io, sys\nfrom nanlint.model import *\nfrom nanlint.report import render\n{statement}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


FINDING = "Finding('NAN1', 'n', Span(1, 1, 1, 2), 'm', Severity.ERROR)"


def test_concise_imports_neither_rich_nor_json() -> None:
    modules = modules_after(f"render(Report(({FINDING},)), 'concise', io.StringIO(), colour=True)")
    assert modules & {"rich", "json", "nanlint.report.full", "nanlint.report.for_programs.json_v1"} == set()


def test_full_on_a_clean_run_imports_no_rich() -> None:
    modules = modules_after("render(Report(), 'full', io.StringIO(), colour=True)")
    assert modules & {"rich", "json", "textwrap", "nanlint.report.block"} == set()


def test_full_without_colours_imports_no_rich() -> None:
    modules = modules_after(f"render(Report(({FINDING},)), 'full', io.StringIO())")
    assert modules & {"rich", "json"} == set()


@every_format
def test_a_format_imports_no_other_layers_than_the_model_and_the_evidence(format_name: str) -> None:
    modules = modules_after(f"render(Report(({FINDING},)), {format_name!r}, io.StringIO(), colour=True)")
    ours = {name for name in modules if name.startswith("nanlint.")}
    assert {".".join(name.split(".")[:2]) for name in ours} - {"nanlint.evidence"} == {
        "nanlint.model",
        "nanlint.report",
    }
