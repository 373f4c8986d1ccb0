"""The options of `nanlint confirm`, and the places that its paths name."""

from __future__ import annotations

import argparse
import re

from nanlint.cli.checking.options import add_options as add_check_options
from nanlint.cli.checking.options import add_selection
from nanlint.cli.running_options import add_running
from nanlint.errors import UsageError

EPILOG = """\
examples:
  nanlint confirm src/                       check, then run everything that is found
  nanlint confirm src/model.py:41            the findings of one line
  nanlint confirm 'train.ipynb:cell 3:2'     of one line of a cell, or with 'train.ipynb:cell 3' of a cell
  nanlint confirm --save proofs src/         a script and a pytest for everything that is seen to fail
  nanlint confirm --amp --device cpu src/    CUDA's autocast, emulated where there is no GPU

exit codes: 0 nothing confirmed, 1 something was seen to fail, 2 the run itself failed.
The code runs in a child process with limits of time and memory, without network, without writing outside a scratch
folder, and with its output captured; --verbose says which walls stood. Verdicts: confirmed (the whole function or module failed), reachable (a slice of it
fails for the named values), not-reproduced, flaky, not-runnable. There is no verdict "safe".
"""

_PLACE = re.compile(r"(?P<path>.+\.(?:pyi?|ipynb|ya?ml|toml|json)):(?:cell ?(?P<cell>\d+):?)?(?P<line>\d+)?(?::\d+)?$")

Place = tuple[int | None, int | None]
"""A cell of a notebook, None in other files, and a line; None for the whole cell."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """What is checked, then how it is run."""
    add_selection(parser)
    group = parser.add_argument_group("how it is run")
    add_running(group)
    group.add_argument(
        "-j", "--jobs", type=int, default=0, metavar="N", help="findings at a time (default: 2, or one per GPU)"
    )
    group = parser.add_argument_group("how it ends")
    group.add_argument("--exit-zero", action="store_true", help="exit 0 even if something is confirmed")
    group.add_argument("--config", metavar="FILE", help="settings from this pyproject.toml or nanlint.toml")
    group.add_argument("--isolated", action="store_true", help="read no settings files")
    # What only `check` can be asked is as if nobody had asked for it.
    whole = argparse.ArgumentParser()
    add_check_options(whole)
    own = {action.dest for action in parser._actions}  # noqa: SLF001 - argparse has no public way
    asked = {name: value for name, value in vars(whole.parse_args([])).items() if name not in own}
    parser.set_defaults(**{**asked, "confirm": True})


def places_of(paths: list[str]) -> tuple[list[str], dict[str, set[Place]]]:
    """The paths without places, and the places that were asked for by path."""
    plain: list[str] = []
    places: dict[str, set[Place]] = {}
    for path in paths:
        found = _PLACE.match(path)
        if found is None or not (found["cell"] or found["line"]):
            plain.append(path)
            continue
        cell, line = (int(number) if number else None for number in found.group("cell", "line"))
        if found["path"].endswith(".ipynb") != (cell is not None):
            hint = "a notebook has cells" if cell is None else "only a notebook has cells"
            raise UsageError(f"{path}: {hint}; name a place as check prints it: model.py:41, 'train.ipynb:cell 3:2'")
        places.setdefault(found["path"], set()).add((cell, line))
        plain.append(found["path"])
    return list(dict.fromkeys(plain)), places
