"""The rule pages in docs/rules and the rule table of the README: written from the docstrings of the rules, never by hand.

`python -m nanlint.rule_pages` writes both in the checkout it is run from; a test compares them with the rules.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nanlint.engine.rules.rulebook import rulebook, rules_folder
from nanlint.word_sets import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.model import RuleInfo

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_TABLE = re.compile(r"(?<=<!-- rules:begin -->\n).*?(?=<!-- rules:end -->)", re.DOTALL)
_CODE = word_set("Flagged Instead")


def page(info: RuleInfo) -> str:
    """The page of one rule, in Markdown."""
    lines = [f"# {info.code} {info.name}", "", info.summary, ""]
    state = "In preview: runs when selected, or with `preview = true`" if info.preview else "On by default"
    lines += [f"{state}.", ""]
    _, *sections = _HEADING.split(info.docs)
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        text = body.strip("\n")
        lines += [f"## {title}", "", *(_fenced(text) if title in _CODE else [text]), ""]
    return "\n".join(lines)


def _fenced(code: str) -> list[str]:
    """An indented example as a code block that is coloured."""
    return ["```python", *(line[4:] for line in code.splitlines()), "```"]


def table(infos: Iterable[RuleInfo]) -> str:
    """The rules as the README lists them, one line each."""
    lines = ["| code | name | on | finds | fix |", "|---|---|---|---|---|"]
    for info in infos:
        link = f"[{info.code}](docs/rules/{info.code}.md)"
        state = "preview" if info.preview else "yes"
        lines.append(f"| {link} | {info.name} | {state} | {info.summary.rstrip('.')} | {_kind_of_fix(info)} |")
    return "\n".join(lines) + "\n"


def _kind_of_fix(info: RuleInfo) -> str:
    """The first word of the section on fixes: safe, unsafe, sketch or none."""
    return re.split(r"\W", info.fix, maxsplit=1)[0].lower()


def pages() -> dict[str, str]:
    """The path of each page in a checkout, and what it must say."""
    book = rulebook()
    return {f"docs/rules/{code}.md": page(book.info(code)) for code in book.rules}


def with_table(readme: str) -> str:
    """The README with the table of today's rules."""
    book = rulebook()
    return _TABLE.sub(lambda _: table(book.info(code) for code in book.rules), readme)


def write(root: Path) -> list[str]:
    """Bring pages and table of the checkout at `root` up to date; the paths that were not."""
    wanted = {**pages(), "README.md": with_table((root / "README.md").read_text(encoding="utf-8"))}
    folder = root / "docs" / "rules"
    folder.mkdir(parents=True, exist_ok=True)
    gone = [path for path in sorted(folder.glob("*.md")) if f"docs/rules/{path.name}" not in wanted]
    for path in gone:
        path.unlink()
    stale = [name for name, text in wanted.items() if not _says(root / name, text)]
    for name in stale:
        (root / name).write_bytes(wanted[name].encode())
    return [*(f"docs/rules/{path.name}" for path in gone), *stale]


def _says(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


if __name__ == "__main__":
    for changed in write(Path(rules_folder()).parent):
        sys.stdout.write(f"{changed}\n")
