"""The draw of findings to be labelled has the probabilities that it notes, readers see no level, and labels need agreement."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest

from benchmarks.labels import agreement, draw
from benchmarks.labels.agreement import Agreement, BadVerdict
from benchmarks.labels.draw import seeded
from benchmarks.labels.rows import Row, read_rows, write_rows
from benchmarks.realcode.archives import NotAvailable
from benchmarks.realcode.repositories import Mirror, Repository

if TYPE_CHECKING:
    from pathlib import Path

ROW = Row("a/net", "c0ffee", "loss.py", 7, 12, 7, "NAN101", "warning", preview=False, message="`n` can be 0")
CONTROL = replace(ROW, repo="b/gan", reviewed_a="yes", reviewed_b="no")
# Three repositories of 30, 10 and 2 findings; one in five is rare.
MANY = [
    replace(ROW, repo=repo, line=line, level="info" if line % 5 else "error")
    for repo, count in (("a/large", 30), ("b/middle", 10), ("c/small", 2))
    for line in range(count)
]


# -- the draw -----------------------------------------------------------------------------------------------------


def test_a_draw_has_its_count_and_at_most_so_many_of_a_repository() -> None:
    for seed in range(50):
        drawn = draw.sample(MANY, 15, 8, seeded(seed))
        assert (len(drawn), max(Counter(row.repo for row in drawn).values()) <= 8) == (15, True)


@pytest.mark.slow
def test_a_row_is_drawn_as_often_as_its_probability_says() -> None:
    expected = dict(zip(MANY, draw.probabilities(MANY, 15, 8), strict=True))
    draws = 4000
    often = Counter(row.id for seed in range(draws) for row in draw.sample(MANY, 15, 8, seeded(seed)))
    # Five standard deviations of the least certain row: 5 * sqrt(0.25 / 4000).
    assert {row.id: often[row.id] / draws for row in MANY} == pytest.approx(
        {row.id: chance for row, chance in expected.items()}, abs=0.04
    )


def test_the_probability_is_noted_and_rare_findings_have_a_higher_one() -> None:
    chances = dict(zip(MANY, draw.probabilities(MANY, 15, 8), strict=True))
    noted = {row.probability for row in draw.sample(MANY, 15, 8, seeded(1))}
    rare, common = (chances[row] for row in (MANY[0], MANY[1]))
    assert (noted <= {round(chance, 6) for chance in chances.values()}, rare > common) == (True, True)


def test_findings_that_are_shown_by_default_can_be_the_share_that_is_wanted() -> None:
    chances = draw.probabilities(MANY, 12, 8, 0.5)
    shown = sum(chance for row, chance in zip(MANY, chances, strict=True) if row.level == "error")
    assert shown >= 6
    assert sum(chances) == pytest.approx(12)


def test_the_same_seed_gives_the_same_draw_whatever_the_order() -> None:
    assert draw.sample(MANY[::-1], 15, 8, seeded(3)) == draw.sample(MANY, 15, 8, seeded(3))


def test_more_than_there_is_cannot_be_drawn() -> None:
    with pytest.raises(SystemExit, match="at most 18 findings can be drawn with --most 8"):
        draw.sample(MANY, 19, 8, seeded(1))


def test_the_table_counts_by_rule_and_level() -> None:
    assert list(draw.table(MANY, 4000)) == [
        "42 findings in 3 repositories on 4000 lines",
        "| rule | info | warning | error |",
        "|---|--:|--:|--:|",
        "| NAN101 | 33 |  | 9 |",
        "| all | 33 | 0 | 9 |",
        "| per 1,000 lines | 8.25 | 0.00 | 2.25 |",
    ]


def test_controls_are_reviewed_findings_that_are_still_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reported(_mirror: Mirror, repository: Repository, _preview: object) -> tuple[list[Row], int]:
        if repository.name == "d/elsewhere":
            raise NotAvailable("no git directory")
        return [ROW], 100

    monkeypatch.setattr(draw, "findings", reported)
    review = {
        "repo": "a/net",
        "commit": "c0ffee",
        "path": "loss.py",
        "line": 7,
        "rule": "NAN101",
        "A": "yes",
        "B": "no",
    }
    reviewed = tmp_path / "reviewed.jsonl"
    write_rows(reviewed, [review, review | {"line": 8}, review | {"repo": "d/elsewhere"}])
    mirror = Mirror(tmp_path, tmp_path)
    assert list(draw.controls(reviewed, mirror, (), 1, seeded(1))) == [replace(ROW, reviewed_a="yes", reviewed_b="no")]
    with pytest.raises(SystemExit, match="1 of its findings can be controls, 2 are needed"):
        list(draw.controls(reviewed, mirror, (), 2, seeded(1)))


# -- the lists ----------------------------------------------------------------------------------------------------


def test_every_row_is_dealt_once_and_some_drawn_ones_to_a_second_list() -> None:
    rows = [*MANY, CONTROL]
    hands = draw.dealt(rows, 6, 4, seeded(1))
    times = Counter(row.id for hand in hands for row in hand)
    assert (len(times), sum(times.values()), times[CONTROL.id]) == (43, 47, 1)
    assert all(len({row.id for row in hand}) == len(hand) for hand in hands)


def test_a_reader_sees_the_place_and_the_message_and_not_the_level(tmp_path: Path) -> None:
    file = tmp_path / "checkouts" / "b+gan" / "loss.py"
    file.parent.mkdir(parents=True)
    file.touch()
    write_rows(tmp_path / "key.jsonl", [asdict(CONTROL)])
    arguments = ["lists", str(tmp_path / "key.jsonl"), str(tmp_path), "--checkouts", str(tmp_path / "checkouts")]
    draw.main([*arguments, "--lists", "1", "--twice", "0"])
    assert list(read_rows(tmp_path / "list-1.jsonl")) == [
        {
            "id": CONTROL.id,
            "repo": "b/gan",
            "path": "loss.py",
            "line": 7,
            "column": 12,
            "rule": "NAN101",
            "message": "`n` can be 0",
            "file": str(file.resolve()),
        }
    ]


def test_a_checkout_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="write out a/net at c0ffee"):
        draw.shown(ROW, tmp_path)


# -- agreement ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        pytest.param("yy nn", 1, id="always of one mind"),
        pytest.param("yn ny", -1, id="never"),
        pytest.param("yy yn ny nn", 0, id="as by chance"),
        pytest.param("yu nn", 1, id="unsure counts as yes"),
        pytest.param("nn nn", 1, id="only one answer"),
        # Observed 0.8, by chance 0.5.
        pytest.param("yy yy yy yy nn nn nn nn yn ny", 0.6, id="four in five"),
    ],
)
def test_kappa(pairs: str, kappa: float) -> None:
    words = {answer[0]: answer for answer in agreement.ANSWERS}
    answers = tuple((words[pair[0]], words[pair[1]]) for pair in pairs.split())
    assert Agreement("rows", "A", answers).kappa == pytest.approx(kappa)


def test_without_any_row_to_compare_the_agreement_is_not_enough() -> None:
    assert not Agreement("rows", "A", ()).is_enough


def _batch(folder: Path, *, second_b: str) -> list[str]:
    """The arguments for a key of three rows, one of them a control, and two readers."""
    other = replace(ROW, line=9, probability=0.5)
    write_rows(folder / "key.jsonl", [asdict(row) for row in (ROW, other, CONTROL)])
    given = {"A": "yes", "B": "no", "reason": "every caller clamps, see train.py"}
    write_rows(folder / "1.jsonl", [{"id": row.id, **given} for row in (ROW, other, CONTROL)])
    write_rows(folder / "2.jsonl", [{"id": ROW.id, **given, "B": second_b}])
    return [*(str(folder / name) for name in ("key.jsonl", "1.jsonl", "2.jsonl")), "--write", str(folder / "out.jsonl")]


def test_a_batch_holds_place_draw_and_verdicts_and_neither_code_nor_controls(tmp_path: Path) -> None:
    assert agreement.main(_batch(tmp_path, second_b="no")) == 0
    first, second = read_rows(tmp_path / "out.jsonl")
    assert first == {
        "repo": "a/net",
        "commit": "c0ffee",
        "path": "loss.py",
        "line": 7,
        "column": 12,
        "end_line": 7,
        "rule": "NAN101",
        "level": "warning",
        "preview": False,
        "probability": 0.0,
        "A": "yes",
        "B": "no",
        "reason": "every caller clamps, see train.py",
        "second": {"A": "yes", "B": "no"},
    }
    assert (second["line"], second["probability"], "second" in second) == (9, 0.5, False)


def test_a_batch_on_which_readers_disagree_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert agreement.main(_batch(tmp_path, second_b="yes")) == 1
    assert "B on 1 rows labelled twice: kappa 0.00" in capsys.readouterr().out
    assert not (tmp_path / "out.jsonl").exists()


def test_a_batch_with_one_reader_stands_on_its_controls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, first, _, *write = _batch(tmp_path, second_b="yes")
    assert agreement.main([key, first, *write]) == 0
    assert "twice" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"B": "maybe"}, r":1: B is 'maybe'; write one of yes, no, unsure", id="unknown answer"),
        pytest.param({"A": None}, r":1: a verdict has the texts", id="no answer"),
        pytest.param({"id": "0"}, r":1: the key has no row 0", id="unknown row"),
        pytest.param({"reason": "see /home/me/net/loss.py"}, r":1: the reason is a sentence", id="path of a machine"),
        pytest.param({"reason": " "}, r":1: the reason is a sentence", id="no reason"),
    ],
)
def test_a_verdict_that_cannot_be_used_is_named_with_its_line(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    file = tmp_path / "1.jsonl"
    entry = {"id": ROW.id, "A": "yes", "B": "no", "reason": "a division x / n in loss/dice.py"}
    file.write_text(json.dumps(entry | change))
    with pytest.raises(BadVerdict, match=message):
        agreement.merged([ROW], [file])


def test_every_row_needs_a_verdict(tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").touch()
    with pytest.raises(BadVerdict, match=f"1 rows have no verdict, {ROW.id}"):
        agreement.merged([ROW], [tmp_path / "1.jsonl"])


def test_one_reader_gives_one_verdict_on_a_row(tmp_path: Path) -> None:
    line = json.dumps({"id": ROW.id, "A": "yes", "B": "no", "reason": "n is a count"})
    (tmp_path / "1.jsonl").write_text(f"{line}\n{line}\n")
    with pytest.raises(BadVerdict, match=f":2: a second verdict on {ROW.id}"):
        agreement.merged([ROW], [tmp_path / "1.jsonl"])
