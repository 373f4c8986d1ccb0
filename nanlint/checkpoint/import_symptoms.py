"""What is told of the names that a file would import if it were loaded for real."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.checkpoint.imports import COMPUTED, dangerous, unknown
from nanlint.checkpoint.symptoms import ERROR, NOTE, Symptom

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_NAMED = 5


def import_symptoms(imports: Sequence[tuple[str, str]]) -> Iterator[Symptom]:
    """An error for each name that can do harm; one note per file with those that nobody here knows."""
    for file in dict.fromkeys(file for file, _ in imports):
        names = [name for own, name in imports if own == file]
        yield from (_harm(name, file) for name in dangerous(names))
        others = unknown(names)
        if others:
            yield _others(others, file)


def _harm(name: str, file: str) -> Symptom:
    what = "something whose name it computes on the way" if name == COMPUTED else name
    return Symptom(
        ERROR,
        "dangerous-import",
        "import" if name == COMPUTED else name,
        f"loading this file would import and could call {what}, which no checkpoint needs; nothing of it was run here",
        file,
        hint="do not load it with torch.load(weights_only=False) or pickle; ask where it comes from, or delete it",
    )


def _others(names: list[str], file: str) -> Symptom:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    shown = ", ".join(names[:MOST_NAMED])
    return Symptom(
        NOTE,
        "unknown-import",
        "imports",
        f"loading this file imports {shown}{more}, which is code of neither torch nor numpy; load it only if you trust it",
        file,
    )
