"""A hazard is found at its level and a guard silences wherever they stand: here, in a helper, a method, a module, another file, the caller.

What is lost on the way is listed in `helper_probe_not_yet.txt`, a line each; the test fails when such a line is no longer true.
`python -m tests.helper_probe` prints the table and writes the list anew.
"""

from __future__ import annotations

import pytest

from tests.helper_probe import LISTED
from tests.moved.material import DRAWN, hazards
from tests.moved.scoring import drawn_guards, guards_lost, hazards_lost

pytestmark = pytest.mark.slow


def test_enough_is_drawn() -> None:
    assert (len(hazards()), len(drawn_guards())) == (DRAWN, DRAWN)


def test_what_is_moved_is_known_but_for_what_is_listed() -> None:
    lost = [line for lines in [*hazards_lost().values(), *guards_lost().values()] for line in lines]
    assert lost == LISTED.read_text("utf-8").splitlines()
