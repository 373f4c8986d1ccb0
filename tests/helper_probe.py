"""`python -m tests.helper_probe`: hazards and guards of the fixtures, moved away, and how many are still known for what they are."""

from __future__ import annotations

from pathlib import Path

from tests.moved.material import DRAWN
from tests.moved.scoring import guards_lost, hazards_lost

LISTED = Path(__file__).parent / "helper_probe_not_yet.txt"


def main() -> None:
    """Print the items that a move loses, and the table; keep the items as the list of what is open."""
    tables = {"hazards found at the same level": hazards_lost(), "guards that hold": guards_lost()}
    lines = [line for lost in tables.values() for lines in lost.values() for line in lines]
    LISTED.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(*lines, sep="\n")
    for title, lost in tables.items():
        for name, lines in lost.items():
            print(f"{title}, {name}: {DRAWN - len(lines)} of {DRAWN}")


if __name__ == "__main__":
    main()
