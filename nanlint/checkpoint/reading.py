"""What the reading of one file may cost, and what was seen on the way.

A few bytes can ask for any amount of work: the same container copied a million times, a pickle in a pickle in a pickle.
So everything that a file makes us build is added up, and what is far more than its own size is given up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from nanlint.checkpoint.region import UnreadableCheckpoint

LEAST = 128 << 20
"""Bytes of memory that even a small file may fill."""

MOST_INSIDE = 4
"""Pickles inside of each other; a tensor in a plain pickle is two."""

OPCODE, CONTAINER, OBJECT, ELEMENT = 24, 80, 400, 16
"""What one of them takes in memory, about."""

LONGEST_NAME = 300


@dataclass
class Reading:
    """Handed to every reader of one file."""

    size: int = 0
    """Bytes of what is read."""
    imports: dict[str, None] = field(default_factory=dict)
    """The names that a pickle in it would import, in their order."""
    spent: int = 0
    inside: int = 0

    def spend(self, amount: int) -> None:
        """Add what is about to be built; too much of it ends the reading."""
        self.spent += amount
        if self.spent > LEAST + 4 * self.size:
            raise UnreadableCheckpoint(
                f"has {self.size:,} bytes and unfolds into more than {self.spent:,}, as no checkpoint does; do not load it"
            )

    def enter(self) -> None:
        """A pickle inside of what is being read."""
        self.inside += 1
        if self.inside > MOST_INSIDE:
            raise UnreadableCheckpoint(
                f"has more than {MOST_INSIDE} pickles inside of each other, as no checkpoint has; do not load it"
            )

    def leave(self) -> None:
        """Its end."""
        self.inside -= 1

    def note(self, name: str) -> str:
        """An import; of a very long name, the beginning."""
        short = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."
        self.imports[short] = None
        return short
