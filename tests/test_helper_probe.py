"""A hazard is found at its level and a guard silences wherever they stand: here, in a helper, a method, a module, another file, the caller.

What is lost on the way is listed in `helper_probe_not_yet.txt`, a line each; the test fails when such a line is no longer true.
`python -m tests.helper_probe` prints the table and writes the list anew.
"""

from __future__ import annotations

import pytest

from tests.helper_probe import COUNT, LISTED, lost
from tests.moved.material import draws

pytestmark = pytest.mark.slow


def test_enough_is_drawn() -> None:
    assert {len(set(names)) for names in draws().values()} == {COUNT}


def test_what_is_moved_is_known_but_for_what_is_listed() -> None:
    assert lost() == LISTED.read_text("utf-8").splitlines()
