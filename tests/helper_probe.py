"""`python -m tests.helper_probe`: hazards and guards of the fixtures, moved away, and how many are still known for what they are."""

from __future__ import annotations

from pathlib import Path

from tests.moved.material import draws
from tests.moved.scoring import guards_lost, hazards_lost

COUNT = 40
LISTED = Path(__file__).parent / "helper_probe_not_yet.txt"


def seeds() -> list[str]:
    """The names of the draws, the first of which the analysis was worked on with."""
    return list(dict.fromkeys(name.partition(":")[0] for name in draws()))


def lost() -> list[str]:
    """The items of every draw that a move loses."""
    tables = [table(seed) for seed in seeds() for table in (hazards_lost, guards_lost)]
    return [line for table in tables for lines in table.values() for line in lines]


def main() -> None:
    """Print the items that a move loses, and the tables; keep the items as the list of what is open."""
    LISTED.write_text("".join(f"{line}\n" for line in lost()), encoding="utf-8")
    print(*lost(), sep="\n")
    for seed in seeds():
        for title, table in (
            ("hazards at the same level", hazards_lost(seed)),
            ("guards that hold", guards_lost(seed)),
        ):
            for name, lines in table.items():
                print(f'draw "{seed}", {title}, {name}: {COUNT - len(lines)} of {COUNT}')


if __name__ == "__main__":
    main()
