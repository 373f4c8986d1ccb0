"""`python -m nanlint.engine.rules.write_cards FILE`: the cards of the shipped rules as Python code, for the wheel.

Code and not data, because Python keeps it compiled. A set of words stands there once, however many rules need it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nanlint.engine.rules.cards import cards_of, sizes
from nanlint.engine.rules.rulebook import rulebook, rules_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanlint.engine.rules.cards import RuleCard

_HEAD = '''\
"""The cards of the rules beside this file, written when the wheel was built."""

from nanlint.engine.rules.cards import RuleCard
from nanlint.prefilter.triggers import Trigger
'''


def code_of(cards: Mapping[str, RuleCard], file_sizes: dict[str, int]) -> str:
    """A module that holds `cards` as `CARDS`, and the sizes of the rule files that they were made of as `SIZES`."""
    sets: dict[frozenset[str], str] = {}
    body = _code(cards, sets)
    lines = [f"{name} = frozenset({tuple(sorted(words))!r})" for words, name in sets.items()]
    return "\n".join([_HEAD, *lines, f"SIZES = {dict(sorted(file_sizes.items()))!r}", f"CARDS = {body}", ""])


def _code(value: object, sets: dict[frozenset[str], str]) -> str:
    """An expression for `value`; sets of words are given names, which are noted in `sets`."""
    if isinstance(value, frozenset):
        return sets.setdefault(value, f"W{len(sets)}")
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        fields = ", ".join(f"{name}={_code(field, sets)}" for name, field in value._asdict().items())
        return f"{type(value).__name__}({fields})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_code(entry, sets)}' for key, entry in value.items())}}}"
    return repr(value)


def main() -> None:
    """Write the file that the command line names."""
    cards = cards_of(rulebook().rules.values())
    Path(sys.argv[1]).write_text(code_of(cards, sizes(rules_folder())), encoding="utf-8")


if __name__ == "__main__":
    main()
