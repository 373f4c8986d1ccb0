"""A name may move a finding by one level and never hides it: variables and functions of the fixtures get names without meaning.

What still depends on a name is listed in `renaming_not_yet.txt`, a line each; the test fails when such a line is no longer true.
"""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import random
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nanlint.api import check_source
from nanlint.settings import Settings

if TYPE_CHECKING:
    from nanlint.model import Severity

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = sorted((ROOT / "fixtures").glob("NAN[1-3]*/bad.py"))
LISTED = ROOT / "tests" / "renaming_not_yet.txt"
EVERYTHING = Settings(select=("ALL",), preview=True, severity="info")
# `forward` and the like are called by torch, not by their name.
KEPT = frozenset({"forward", "self", "cls", "training_step", *dir(builtins), *keyword.kwlist, *keyword.softkwlist})


def renamed(text: str, seed: str) -> str:
    """The same program with names of the same length that say nothing: every variable, parameter and function of its own."""
    tree = ast.parse(text)
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    # A keyword of a call may be a parameter of ours or of torch's; an attribute belongs to its object.
    own -= {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg}
    own -= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    own = {name for name in own - KEPT if not name.startswith("__")}
    taken = {token.string for token in tokenize.generate_tokens(io.StringIO(text).readline)} | KEPT
    draw, new = random.Random(seed), dict[str, str]()  # noqa: S311 - a draw, no secret
    for name in sorted(own):
        letters = (
            "".join(draw.choice("bcdfghjkpqvwxz") for _ in name) if len(name) > 1 else draw.choice("bdghjkpqrvwxyz")
            for _ in range(1000)
        )
        new[name] = next((word for word in letters if word not in taken), name)
        taken.add(new[name])
    lines = text.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for before, token in reversed(list(zip([None, *tokens], tokens, strict=False))):
        if token.type == tokenize.NAME and token.string in new and (before is None or before.string != "."):
            (row, column), length = token.start, len(token.string)
            line = lines[row - 1]
            lines[row - 1] = line[:column] + new[token.string] + line[column + length :]
    return "".join(lines)


def levels(text: str) -> dict[tuple[str, int], Severity]:
    """The worst level at each line, by rule."""
    found: dict[tuple[str, int], Severity] = {}
    for finding in sorted(check_source(text, settings=EVERYTHING), key=lambda finding: finding.severity.rank):
        found[finding.code, finding.span.line] = finding.severity
    return found


def moved(path: Path) -> list[str]:
    """What a new name hides, or moves by more than one level."""
    text = path.read_text(encoding="utf-8")
    before, after = levels(text), levels(renamed(text, path.parent.name))
    return [
        f"{path.parent.name} {code} line {line}: {level.value} becomes {after[code, line].value if (code, line) in after else 'nothing'}"
        for (code, line), level in before.items()
        if (code, line) not in after or abs(after[code, line].rank - level.rank) > 1
    ]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.parent.name)
def test_new_names_hide_nothing_but_what_is_listed(path: Path) -> None:
    listed = [line for line in LISTED.read_text("utf-8").splitlines() if line.split(" ", 1)[0] == path.parent.name]
    assert moved(path) == listed


def test_a_renamed_program_is_still_a_program_with_the_same_places() -> None:
    text = "def loss(mask, x=1):\n    total = mask.sum()\n    return x.mask / total\n"
    new = renamed(text, "seed")
    assert [len(line) for line in new.splitlines()] == [len(line) for line in text.splitlines()]
    assert ".mask / " in new and "total" not in new  # noqa: PT018 - one statement about one program


if __name__ == "__main__":
    LISTED.write_text("".join(f"{line}\n" for path in FIXTURES for line in moved(path)), "utf-8")
