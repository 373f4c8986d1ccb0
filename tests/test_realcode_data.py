"""The data of the real-code benchmarks is well-formed, and their arithmetic is right. Nothing here is downloaded."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.realcode import bugs, corpus, precision, reviews, run, sample, yardstick
from benchmarks.realcode.archives import Link, NotAvailable, Release, choose, fits, unpack, unpacked
from benchmarks.realcode.corpus import Found, PackageResult
from benchmarks.realcode.repositories import Mirror, Repository
from benchmarks.realcode.reviews import BadReview, Review, Score
from benchmarks.realcode.yardstick import Case, Judgement, Side

FOUND = Found("NAN101", "timm", "1.0.30", "timm/loss.py", 7, "return a / b", "mean", "warning", "b can be 0", 7)
REVIEW = Review("NAN101", "timm", "1.0.30", "timm/loss.py", 7, "return a / b", verdict=True, reason="b is a count")


# -- the data -----------------------------------------------------------------------------------------------------


def test_at_least_twenty_packages_are_pinned_each_once() -> None:
    names = Counter(release.name for release in corpus.pinned())
    assert (len(names) >= 20, max(names.values())) == (True, 1)


def test_every_pinned_package_has_an_exact_version_and_a_known_kind() -> None:
    odd = [
        release
        for release in corpus.pinned()
        if not release.version[0].isdigit() or release.kind not in {"wheel", "sdist"}
    ]
    assert odd == []


@pytest.mark.parametrize(
    ("select", "rules", "chosen"),
    [
        pytest.param("", "", "", id="all rules on all packages"),
        pytest.param("", "NAN4,NAN5", "NAN4,NAN5", id="a package for some rules"),
        pytest.param("NAN101,NAN402", "NAN4,NAN5", "NAN402", id="those of both"),
        pytest.param("NAN101", "NAN4,NAN5", None, id="none of both"),
        pytest.param("NAN101", "", "NAN101", id="a package for all rules"),
    ],
)
def test_a_package_is_measured_on_the_rules_that_it_is_there_for(select: str, rules: str, chosen: str | None) -> None:
    assert corpus.selection(select, rules) == chosen


def test_every_review_is_well_formed_and_of_a_pinned_version() -> None:
    pinned = {release.name: release.version for release in corpus.pinned()}
    stale = [review for review in reviews.read_reviews() if pinned.get(review.package) != review.version]
    assert stale == []


def test_no_line_is_reviewed_twice() -> None:
    counts = Counter(review.key for review in reviews.read_reviews())
    assert [key for key, count in counts.items() if count > 1] == []


def test_every_case_names_lines_on_both_sides_and_a_visibility() -> None:
    visibilities = {"local", "local+dtype", "semantic", "loop"}
    odd = [
        case.id
        for case in bugs.cases(Path())
        if not case.faulty.lines or not (case.cured and case.cured.lines) or case.visibility not in visibilities
    ]
    assert odd == []


def test_cases_have_ids_of_their_own() -> None:
    cases = bugs.cases(Path())
    assert len({case.id for case in cases}) == len(cases) == 55


# -- reviews ------------------------------------------------------------------------------------------------------


def _line(**changes: object) -> str:
    entry = {name: getattr(REVIEW, name) for name in reviews.FIELDS}
    return json.dumps({**entry, **changes})


def test_a_review_is_read_back_as_it_was_written() -> None:
    assert reviews.parse(_line(), "NAN101.jsonl:1", "NAN101") == REVIEW


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        pytest.param("{", "NAN101.jsonl:3: not JSON", id="broken JSON"),
        pytest.param("[]", "a review has the fields rule, package", id="no object"),
        pytest.param(_line(note="x"), "and no others", id="a field too many"),
        pytest.param(_line(verdict=None), "the verdict is true or false, not null", id="verdict not filled in"),
        pytest.param(_line(verdict="true"), 'not "true"', id="verdict as text"),
        pytest.param(_line(reason=" "), "none is empty", id="no reason"),
        pytest.param(_line(line="7"), "`line` is a number", id="line as text"),
        pytest.param(_line(rule="NAN102"), "belongs into NAN102.jsonl", id="another rule's review"),
    ],
)
def test_a_line_that_is_no_review_is_refused_with_its_place(line: str, complaint: str) -> None:
    with pytest.raises(BadReview) as refusal:
        reviews.parse(line, "NAN101.jsonl:3", "NAN101")
    assert (str(refusal.value).startswith("NAN101.jsonl:3: "), complaint in str(refusal.value)) == (True, True)


def test_a_template_line_becomes_a_review_once_verdict_and_reason_are_filled_in() -> None:
    entry = json.loads(sample.template(FOUND))
    filled = json.dumps({**entry, "verdict": True, "reason": "b is a count"})
    assert (entry["verdict"], reviews.parse(filled, "", "NAN101")) == (None, REVIEW)


# -- precision ----------------------------------------------------------------------------------------------------


def _found(rule: str, *codes: str) -> list[Found]:
    return [replace(FOUND, rule=rule, code=code) for code in codes]


def _reviews(rule: str, verdicts: dict[str, bool]) -> list[Review]:
    return [replace(REVIEW, rule=rule, code=code, verdict=verdict) for code, verdict in verdicts.items()]


def test_precision_counts_the_reviewed_findings_that_are_still_reported() -> None:
    judged = _reviews("NAN101", {"a": True, "b": True, "c": True, "d": False, "e": False, "f": False})
    score = reviews.scores(judged, _found("NAN101", "a", "b", "c", "d", "g", "h"))["NAN101"]
    assert (score, score.precision) == (Score("NAN101", true=3, false=1, gone=2, unreviewed=2), 0.75)


def test_a_finding_on_another_line_of_the_file_is_the_same_finding() -> None:
    moved = [replace(FOUND, line=70)]
    assert reviews.scores([REVIEW], moved)["NAN101"] == Score("NAN101", true=1, false=0, gone=0, unreviewed=0)


def test_identical_lines_of_one_file_count_once() -> None:
    twice = [FOUND, replace(FOUND, line=70)]
    assert reviews.scores([], twice)["NAN101"].unreviewed == 1


def test_the_later_of_two_reviews_of_a_line_counts() -> None:
    changed = [REVIEW, replace(REVIEW, verdict=False)]
    assert reviews.scores(changed, [FOUND])["NAN101"] == Score("NAN101", true=0, false=1, gone=0, unreviewed=0)


def test_a_rule_without_findings_has_no_precision_and_no_complaint() -> None:
    score = reviews.scores([], [], ["NAN101"])["NAN101"]
    assert (score.precision, score.complaint) == (None, "")


@pytest.mark.parametrize(
    ("score", "complaint"),
    [
        pytest.param(Score("", true=15, false=0, gone=0, unreviewed=9), "", id="fifteen of many"),
        pytest.param(Score("", true=14, false=0, gone=0, unreviewed=9), "only 14 reviewed", id="fourteen of many"),
        pytest.param(Score("", true=3, false=0, gone=0, unreviewed=0), "", id="all there are"),
        pytest.param(Score("", true=14, false=6, gone=0, unreviewed=0), "", id="70 % exactly"),
        pytest.param(Score("", true=13, false=7, gone=0, unreviewed=0), "under 70%", id="65 %"),
    ],
)
def test_a_default_rule_needs_fifteen_reviews_and_seventy_percent(score: Score, complaint: str) -> None:
    assert score.complaint == complaint


def test_the_bar_over_all_is_higher_than_the_bar_of_one_rule() -> None:
    by_rule = {"NAN101": Score("NAN101", true=16, false=4, gone=0, unreviewed=0)}
    assert precision.complaints(by_rule, {"NAN101": "unguarded-division"}) == ["over all: under 85%"]


def test_preview_rules_do_not_count_over_all() -> None:
    by_rule = {
        "NAN101": Score("NAN101", true=19, false=1, gone=0, unreviewed=0),
        "NAN199": Score("NAN199", true=0, false=20, gone=0, unreviewed=0),
    }
    assert precision.complaints(by_rule, {"NAN101": "unguarded-division"}) == []


# -- samples ------------------------------------------------------------------------------------------------------


def test_a_sample_goes_round_the_packages_and_leaves_copies_of_a_line_to_the_end() -> None:
    large = [replace(FOUND, package="large", code=code) for code in ("a", "b", "c")]
    small = [replace(FOUND, package="small", code=code) for code in ("a", "d")]
    order = list(sample.spread([*large, *small], seed=1))
    codes = [finding.code for finding in order]
    assert ({finding.package for finding in order[:2]}, sorted(codes[:4]), codes[4]) == (
        {"large", "small"},
        ["a", "b", "c", "d"],
        "a",
    )


def test_the_same_seed_gives_the_same_sample() -> None:
    findings = _found("NAN101", *"abcdefgh")
    assert list(sample.spread(findings, 3)) == list(sample.spread(reversed(findings), 3))


def test_reviewed_findings_are_not_sampled_again() -> None:
    other = replace(FOUND, code="return a / c")
    assert sample.unreviewed([FOUND, other], [REVIEW]) == [other]


def test_an_excerpt_marks_the_flagged_lines_and_stops_at_the_file_s_ends() -> None:
    assert list(sample.excerpt(["a", "b", "c"], range(1, 2), 1)) == [">     1 a", "      2 b"]


# -- the report on packages ---------------------------------------------------------------------------------------


def test_findings_are_counted_per_thousand_lines() -> None:
    result = PackageResult("timm", "1.0.30", lines=4000, findings=[FOUND, FOUND])
    rows = list(run.by_package([result]))
    assert (rows[2], rows[-1]) == (
        "| timm 1.0.30 | 4,000 | 2 | 0.50 | 0 | 0.0 |",
        "Target: not more than about 1 finding per 1,000 lines; 0.50 over all (reached), 0 of 1 packages above it.",
    )


def test_a_run_in_which_nanlint_failed_reaches_no_target() -> None:
    crashed = PackageResult("timm", "1.0.30", lines=10, errors=["a.py:1: rule NAN101 x failed here (KeyError: 1)"])
    missing = PackageResult("timm", "1.0.30", failure="the index has no wheel archive of timm 1.0.30")
    verdicts = [list(run.by_package([result]))[-1].partition("; ")[2] for result in (crashed, missing)]
    assert verdicts == [
        "not measured, since nanlint failed 1 times.",
        "not measured, since 1 packages could not be checked.",
    ]


# -- real bugs ----------------------------------------------------------------------------------------------------


def _side(*lines: int) -> Side:
    return Side(Path, "p.py", lines)


CASE = Case("x", "div-zero", "local", "0/0", faulty=_side(4), cured=_side(5), direction="forward")


def _at(line: int, rule: str = "NAN101", **changes: Any) -> Found:
    return replace(FOUND, **{"rule": rule, "line": line, "end_line": line, "direction": "forward", **changes})


def _judged(before: list[Found], after: list[Found], case: Case = CASE) -> tuple[tuple[str, ...], ...]:
    judgement = yardstick.judge(case, before, after, frozenset({"NAN208"}))
    return judgement.by_default, judgement.at_any_level, judgement.others, judgement.on_cure


DIVISION = ("NAN101",)


@pytest.mark.parametrize(
    ("before", "judged"),
    [
        pytest.param([_at(4)], (DIVISION, DIVISION, (), ()), id="by default"),
        pytest.param([_at(4, severity="info")], ((), DIVISION, (), ()), id="at info"),
        pytest.param([_at(4, "NAN208")], ((), ("NAN208",), (), ()), id="by a preview rule"),
        pytest.param([_at(3, end_line=6)], (DIVISION, DIVISION, (), ()), id="its span holds the line"),
        pytest.param([_at(5)], ((), (), (), ()), id="the line beside it"),
        pytest.param([_at(4, "NAN102")], ((), (), ("NAN102",), ()), id="another mechanism"),
        pytest.param([_at(4, direction="backward")], ((), (), DIVISION, ()), id="the other direction"),
        pytest.param([_at(4, direction="both")], (DIVISION, DIVISION, (), ()), id="both directions"),
    ],
)
def test_a_bug_is_found_by_a_finding_on_its_lines_that_names_its_mechanism(
    before: list[Found], judged: tuple[tuple[str, ...], ...]
) -> None:
    assert _judged(before, []) == judged


@pytest.mark.parametrize(
    ("after", "on_cure"),
    [
        pytest.param([_at(5, severity="info", code="x / m")], DIVISION, id="on the cured lines, at any level"),
        pytest.param([_at(5, "NAN102")], (), id="another mechanism"),
        pytest.param([_at(9)], DIVISION, id="the old text of the same function"),
        pytest.param([_at(9, function="other")], (), id="the old text of another function"),
    ],
)
def test_a_cure_is_silent_unless_its_mechanism_is_told_there_or_of_the_old_text(
    after: list[Found], on_cure: tuple[str, ...]
) -> None:
    assert _judged([_at(4)], after)[-1] == on_cure


def test_a_rule_that_is_about_no_operation_has_no_direction() -> None:
    case = replace(CASE, kind="uninitialised-empty", direction="backward")
    assert _judged([_at(4, "NAN601")], [], case)[0] == ("NAN601",)


def test_a_bug_that_nobody_has_cured_does_not_count_among_the_cures() -> None:
    found = Judgement(CASE, by_default=DIVISION, at_any_level=DIVISION, on_cure=DIVISION)
    uncured = Judgement(replace(CASE, cured=None))
    shares = [share for _, share, _ in yardstick.reached([found, uncured], yardstick.Targets(0.5, 0.9))]
    assert shares == [0.5, 0.0]


def test_every_kind_of_the_cases_has_rules_that_name_it() -> None:
    assert {case.kind for case in bugs.cases(Path())} - set(yardstick.RULES_OF_KIND) == set()


# -- repositories -------------------------------------------------------------------------------------------------


@pytest.fixture
def mirror(tmp_path: Path) -> tuple[Mirror, Repository]:
    """A mirror with one repository of one commit."""
    clone = tmp_path / "mirror" / "owner+name" / "repo"
    clone.mkdir(parents=True)
    for name, text in {"a/train.py": "loss\n", "run.yaml": "fp16: true\n", "notes.txt": "no\n"}.items():
        (clone / name).parent.mkdir(exist_ok=True)
        (clone / name).write_text(text)
    (clone / "link.py").symlink_to("a/train.py")
    identity = ("-c", "user.name=n", "-c", "user.email=e")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "first")):
        subprocess.run(["git", *words], cwd=clone, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone, check=True, capture_output=True, text=True)
    return Mirror(tmp_path / "mirror", tmp_path / "work"), Repository("owner/name", head.stdout.strip())


def _files(tree: Path) -> dict[str, str]:
    return {path.relative_to(tree).as_posix(): path.read_text() for path in tree.rglob("*") if path.is_file()}


def test_a_tree_has_the_code_and_the_configurations_of_its_commit_and_no_links(
    mirror: tuple[Mirror, Repository],
) -> None:
    folder, repository = mirror
    assert _files(folder.tree(repository)) == {"a/train.py": "loss\n", "run.yaml": "fp16: true\n"}


def test_a_changed_file_takes_its_place_in_a_tree_of_its_own(mirror: tuple[Mirror, Repository]) -> None:
    folder, repository = mirror
    git = folder.git_folder("owner/name")
    words = ["git", "--git-dir", str(git), "hash-object", "-w", "--stdin"]
    blob = subprocess.run(words, input="cured\n", check=True, capture_output=True, text=True).stdout.strip()
    changed = folder.tree(repository, {"a/train.py": blob}, "-cure")
    assert (_files(changed)["a/train.py"], _files(folder.tree(repository))["a/train.py"]) == ("cured\n", "loss\n")


def test_a_repository_that_is_not_there_is_named(mirror: tuple[Mirror, Repository]) -> None:
    folder, _ = mirror
    with pytest.raises(NotAvailable, match="has no git directory of no/such"):
        folder.tree(Repository("no/such", "0" * 40))


# -- archives -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filename", "is_it"),
    [
        pytest.param("pyro_ppl-1.9.2-py3-none-any.whl", True, id="a wheel spells the name its own way"),
        pytest.param("pyro-ppl-1.9.2.tar.gz", True, id="an sdist"),
        pytest.param("pyro_ppl-1.9.20-py3-none-any.whl", False, id="a longer version"),
        pytest.param("pyro-ppl-extra-1.9.2.tar.gz", False, id="a longer name"),
        pytest.param("pyro_ppl-1.9.2-py3-none-any.whl.metadata", False, id="no archive"),
    ],
)
def test_a_file_belongs_to_a_release_by_name_and_version(filename: str, is_it: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert fits(Release("pyro-ppl", "1.9.2"), filename) is is_it


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        pytest.param("wheel", "x-1-cp311-cp311-manylinux_2_28_x86_64.whl", id="the Linux wheel"),
        pytest.param("sdist", "x-1.tar.gz", id="the sdist"),
        pytest.param("any", "x-1-cp311-cp311-manylinux_2_28_x86_64.whl", id="a wheel before the sdist"),
    ],
)
def test_the_archive_of_the_right_kind_is_chosen(kind: str, chosen: str) -> None:
    names = ("x-1.tar.gz", "x-1-cp311-cp311-macosx_11_0_arm64.whl", "x-1-cp311-cp311-manylinux_2_28_x86_64.whl")
    link = choose(Release("x", "1", kind), [Link(name, "") for name in names])
    assert (link.filename if link else None) == chosen


def _sdist(path: Path, *names: str) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = 1
            archive.addfile(entry, io.BytesIO(b"\n"))


def test_an_sdist_is_unpacked_without_its_top_folder(tmp_path: Path) -> None:
    _sdist(tmp_path / "x-1.tar.gz", "x-1/setup.py", "x-1/x-1/__init__.py")
    unpack(tmp_path / "x-1.tar.gz", tmp_path / "out")
    files = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.py"))
    assert files == ["setup.py", "x-1/__init__.py"]


def test_a_member_that_points_outside_is_refused(tmp_path: Path) -> None:
    _sdist(tmp_path / "x-1.tar.gz", "../escaped.py")
    with pytest.raises(tarfile.OutsideDestinationError):
        unpack(tmp_path / "x-1.tar.gz", tmp_path / "out")
    assert not (tmp_path / "escaped.py").exists()


def test_an_archive_that_is_none_is_not_available_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "x-1-py3-none-any.whl").write_text("no zip")
    with pytest.raises(NotAvailable, match=r"x-1-py3-none-any.whl could not be unpacked"):
        unpacked(Release("x", "1", "wheel"), tmp_path / "work", tmp_path)
    assert list((tmp_path / "work").iterdir()) == []


def test_a_release_in_the_folder_of_wheels_is_taken_from_there(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    with zipfile.ZipFile(tmp_path / "wheels" / "x-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("x/__init__.py", "")
    tree = unpacked(Release("x", "1", "wheel"), tmp_path / "work", tmp_path / "wheels")
    assert (tree.name, [path.name for path in tree.rglob("*.py")]) == ("x-1", ["__init__.py"])
