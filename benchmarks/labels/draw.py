"""Which findings are labelled: a random draw over all levels, and the lists that readers get, which show no level.

    python benchmarks/labels/draw.py draw MATERIAL.toml KEY.jsonl --mirror DIR --reviewed FILE [--count 320] [--controls 20] [--shown 0.45]
    python benchmarks/labels/draw.py lists KEY.jsonl FOLDER --checkouts DIR [--lists 6] [--twice 34]

KEY tells the level, the draw probability and which rows are controls (findings that were judged before): readers do not
get it. MATERIAL names repositories by commit as snapshot.toml does; DIR of `--mirror` holds their git directories, and DIR
of `--checkouts` their files, one folder `owner+name` each. The same seed gives the same draw.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from dataclasses import asdict, replace
from itertools import compress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.labels.rows import Row, read_key, read_rows, write_rows
from benchmarks.realcode import corpus
from benchmarks.realcode.archives import DEFAULT_WORK, NotAvailable
from benchmarks.realcode.corpus import NanlintFailed, PackageResult
from benchmarks.realcode.repositories import Mirror, Repository
from benchmarks.snapshot import ALL_LEVELS, LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Nearer to 0 or 1 than this, a draw probability is 0 or 1 and the rest is rounding.
ROUNDING = 1e-9
SHOWN_LEVELS = ("warning", "error")
# After so many, whatever is shown by default is drawn if its repository has room for it.
MOST_DOUBLINGS = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, then draw or write the lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="check the material and write the key of a draw")
    drawing.add_argument("material", type=Path)
    drawing.add_argument("key", type=Path)
    drawing.add_argument("--mirror", type=Path, required=True, metavar="DIR", help="git directories")
    drawing.add_argument("--work", type=Path, default=DEFAULT_WORK, metavar="DIR", help="trees are written here")
    drawing.add_argument("--reviewed", type=Path, required=True, metavar="FILE", help="judged findings, for controls")
    drawing.add_argument("--count", type=int, default=320, help="how many findings are drawn")
    drawing.add_argument("--controls", type=int, default=20, help="how many judged findings are mixed in")
    drawing.add_argument("--most", type=int, default=12, help="at most so many of one repository")
    drawing.add_argument("--shown", type=float, default=0.0, help="at least this share of those shown by default")
    listing = commands.add_parser("lists", help="write what readers get")
    listing.add_argument("key", type=Path)
    listing.add_argument("folder", type=Path)
    listing.add_argument("--checkouts", type=Path, required=True, metavar="DIR", help="files of the repositories")
    listing.add_argument("--lists", type=int, default=6, help="how many lists")
    listing.add_argument("--twice", type=int, default=34, help="how many findings stand in two lists")
    for command in (drawing, listing):
        command.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    (_draw if options.command == "draw" else _write_lists)(options)
    return 0


def _draw(options: argparse.Namespace) -> None:
    mirror = Mirror(options.mirror.expanduser().resolve(), options.work.expanduser().resolve())
    preview = corpus.preview_rules()
    random = seeded(options.seed)
    rows: list[Row] = []
    lines = 0
    for name, commit in corpus.document(options.material)["repositories"].items():
        try:
            found, its_lines = findings(mirror, Repository(name, commit), preview)
        except (NotAvailable, NanlintFailed) as error:
            sys.exit(f"{options.material}: {name}: {error}; a draw needs every repository that it names")
        rows += found
        lines += its_lines
    print("\n".join(table(rows, lines)))
    chosen = [
        *sample(rows, options.count, options.most, random, options.shown),
        *controls(options.reviewed, mirror, preview, options.controls, random),
    ]
    write_rows(options.key, (asdict(row) for row in chosen))


def seeded(seed: int) -> Random:
    """The same choices for the same seed."""
    return Random(seed)  # noqa: S311 - a draw must be repeatable, not secret


def findings(mirror: Mirror, repository: Repository, preview: Iterable[str]) -> tuple[list[Row], int]:
    """Every finding of a repository at all levels, each once, and how many lines of Python were checked."""
    result = PackageResult(repository.name, repository.commit)
    corpus.check_tree(mirror.tree(repository), result, further=ALL_LEVELS)
    rows = (
        Row(
            repo=repository.name,
            commit=repository.commit,
            path=one.path,
            line=one.line,
            column=one.column,
            end_line=one.end_line,
            rule=one.rule,
            level=one.severity,
            preview=one.rule in preview,
            message=one.message,
        )
        for one in result.findings
    )
    return list({row.id: row for row in rows}.values()), result.lines


def table(rows: Sequence[Row], lines: int) -> Iterator[str]:
    """How many findings there are by rule and level, and of each level per 1,000 lines."""
    counts = Counter((row.rule, row.level) for row in rows)
    yield f"{len(rows)} findings in {len({row.repo for row in rows})} repositories on {lines} lines"
    yield f"| rule | {' | '.join(LEVELS)} |"
    yield f"|---|{'--:|' * len(LEVELS)}"
    for rule in sorted({row.rule for row in rows}):
        yield f"| {rule} | {' | '.join(str(counts[rule, level] or '') for level in LEVELS)} |"
    totals = [sum(row.level == level for row in rows) for level in LEVELS]
    yield f"| all | {' | '.join(str(total) for total in totals)} |"
    yield f"| per 1,000 lines | {' | '.join(f'{1000 * total / max(lines, 1):.2f}' for total in totals)} |"


# -- the draw -----------------------------------------------------------------------------------------------------


def sample(rows: Sequence[Row], count: int, most: int, random: Random, shown: float = 0.0) -> list[Row]:
    """`count` rows, at most `most` of one repository, each with the probability that it had to be among them."""
    ordered = sorted(rows, key=lambda row: (row.repo, row.level, row.rule, row.path, row.line, row.column, row.message))
    likely = probabilities(ordered, count, most, shown)
    chances = dict(enumerate(likely))
    # Each repository settles its own draw but for one row, so that none has more than its expected number, rounded up.
    undecided = [settle(members, chances, random) for members in _by_repository(ordered)]
    last = settle([index for index in undecided if index is not None], chances, random)
    if last is not None:
        chances[last] = float(random.random() < chances[last])
    return [
        replace(row, probability=round(likely[index], 6))
        for index, row in enumerate(ordered)
        if chances[index] > 1 - ROUNDING
    ]


def probabilities(rows: Sequence[Row], count: int, most: int, shown: float = 0.0) -> list[float]:
    """How likely each row is drawn: they add up to `count`, and to at most `most` in a repository.

    Of a rule and level with n findings about as many are drawn as the root of n, so that rare ones are well represented. Those
    that are shown by default weigh twice as much until they are the share `shown` of the draw, or are all drawn.
    """
    groups = _by_repository(rows)
    available = sum(min(most, len(members)) for members in groups)
    if count > available:
        sys.exit(f"--count {count}: at most {available} findings can be drawn with --most {most}; add repositories")
    sizes = Counter((row.rule, row.level) for row in rows)
    weights = [sizes[row.rule, row.level] ** -0.5 for row in rows]
    is_shown = [row.level in SHOWN_LEVELS for row in rows]
    for _ in range(MOST_DOUBLINGS):
        likely = _scaled(groups, weights, count, most)
        if sum(compress(likely, is_shown)) >= shown * count:
            break
        weights = [weight * 2 if doubled else weight for weight, doubled in zip(weights, is_shown, strict=True)]
    return likely


def _scaled(groups: Sequence[Sequence[int]], weights: Sequence[float], count: int, most: int) -> list[float]:
    """The chances that grow with the weights and add up to `count`, with at most `most` in a group."""

    def at(scale: float) -> list[float]:
        chances = [min(1.0, scale * weight) for weight in weights]
        for members in groups:
            excess = sum(chances[index] for index in members) / most
            if excess > 1:
                for index in members:
                    chances[index] /= excess
        return chances

    low, high = 0.0, 1 / min(weights, default=1.0)
    # The sum grows with the scale; a hundred halvings leave nothing but rounding.
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(at(middle)) < count else (low, middle)
    return at(high)


def settle(members: Sequence[int], chances: dict[int, float], random: Random) -> int | None:
    """Make each chance 0 or 1, but for one at most, whose index is returned; on average none changes (pivotal method)."""
    undecided: int | None = None
    for index in members:
        if not ROUNDING < chances[index] < 1 - ROUNDING:
            continue
        if undecided is None:
            undecided = index
            continue
        first, second = chances[undecided], chances[index]
        both = first + second
        if both <= 1:
            winner_is_first = random.random() * both < first
            loser_keeps, winner_has = 0.0, both
        else:
            winner_is_first = random.random() * (2 - both) < 1 - second
            loser_keeps, winner_has = both - 1, 1.0
        winner, loser = (undecided, index) if winner_is_first else (index, undecided)
        chances[winner], chances[loser] = winner_has, loser_keeps
        undecided = next((one for one in (winner, loser) if ROUNDING < chances[one] < 1 - ROUNDING), None)
    return undecided


def _by_repository(rows: Sequence[Row]) -> list[list[int]]:
    groups = defaultdict(list)
    for index, row in enumerate(rows):
        groups[row.repo].append(index)
    return list(groups.values())


def controls(reviewed: Path, mirror: Mirror, preview: Iterable[str], count: int, random: Random) -> Iterator[Row]:
    """`count` findings at random of those that were reviewed, are still reported, and whose repository is in the mirror."""
    reviews = list(read_rows(reviewed))
    random.shuffle(reviews)
    reported: dict[Repository, list[Row]] = {}
    left = count
    for review in reviews:
        if not left:
            return
        repository = Repository(review["repo"], review["commit"])
        if repository not in reported:
            try:
                reported[repository] = findings(mirror, repository, preview)[0]
            except NotAvailable:
                reported[repository] = []
        place = (review["path"], review["line"], review["rule"])
        same = [row for row in reported[repository] if (row.path, row.line, row.rule) == place]
        if len(same) == 1:
            left -= 1
            yield replace(same[0], reviewed_a=review["A"], reviewed_b=review["B"])
    if left:
        sys.exit(f"{reviewed}: {count - left} of its findings can be controls, {count} are needed; mirror more of it")


# -- the lists ----------------------------------------------------------------------------------------------------


def _write_lists(options: argparse.Namespace) -> None:
    rows = read_key(options.key)
    checkouts = options.checkouts.expanduser().resolve()
    for number, members in enumerate(dealt(rows, options.lists, options.twice, seeded(options.seed)), 1):
        write_rows(options.folder / f"list-{number}.jsonl", (shown(row, checkouts) for row in members))


def dealt(rows: Sequence[Row], lists: int, twice: int, random: Random) -> list[list[Row]]:
    """The rows in random order in so many lists; of the drawn ones, `twice` stand in a second list, half the lists on."""
    shuffled = random.sample(rows, len(rows))
    again = random.sample([index for index, row in enumerate(shuffled) if not row.is_control], twice)
    hands: list[list[Row]] = [shuffled[number::lists] for number in range(lists)]
    for index in again:
        hands[(index + lists // 2) % lists].append(shuffled[index])
    for hand in hands:
        random.shuffle(hand)
    return hands


def shown(row: Row, checkouts: Path) -> dict[str, Any]:
    """What a reader sees of it: nothing of its level, its draw or whether it is a control."""
    file = checkouts / row.repo.replace("/", "+") / row.path
    if not file.is_file():
        sys.exit(f"--checkouts {checkouts}: {file} is not there; write out {row.repo} at {row.commit}")
    fields = ("id", "repo", "path", "line", "column", "rule", "message")
    return {**{name: getattr(row, name) for name in fields}, "file": str(file)}


if __name__ == "__main__":
    sys.exit(main())
