"""The rule pages and the README's table say what the rules' docstrings say."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from nanlint.engine.rules.rulebook import rulebook
from nanlint.rule_pages import page, pages, table, with_table, write
from tests.checkout import ROOT

if TYPE_CHECKING:
    from pathlib import Path

REFRESH = "run `python -m nanlint.rule_pages`"


def test_every_rule_has_its_page_and_no_page_is_left_over() -> None:
    on_disk = {f"docs/rules/{path.name}": path.read_text("utf-8") for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert on_disk == pages(), REFRESH


def test_the_readme_lists_the_rules_of_today() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "<!-- rules:begin -->" in readme
    assert readme == with_table(readme), REFRESH


def test_a_page_has_title_state_and_all_sections() -> None:
    text = page(rulebook().info("NAN110"))
    assert text.startswith("# NAN110 log-of-softmax\n\nThe logarithm of a softmax")
    assert "\nOn by default.\n" in text
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Why it hurts", "Flagged", "Instead", "Silent when", "Fix"]


def test_examples_are_code_blocks() -> None:
    assert "```python\nloss = -(target * torch.log_softmax(logits, dim=-1)).sum()\n```" in page(
        rulebook().info("NAN110")
    )


def test_the_table_names_the_kind_of_fix() -> None:
    book = rulebook()
    lines = table([book.info("NAN110"), book.info("NAN401")]).splitlines()
    assert lines[2].endswith("| safe |")
    assert lines[3].endswith("| unsafe |")
    kinds = {line.rsplit("|", 2)[1].strip() for line in table(map(book.info, book.rules)).splitlines()[2:]}
    assert kinds <= {"safe", "unsafe", "sketch", "none"}


def test_writing_replaces_what_is_stale_and_removes_what_is_gone(tmp_path: Path) -> None:
    shutil.copy(ROOT / "README.md", tmp_path / "README.md")
    (tmp_path / "docs" / "rules").mkdir(parents=True)
    (tmp_path / "docs" / "rules" / "NAN999.md").write_text("gone", encoding="utf-8")
    (tmp_path / "docs" / "rules" / "NAN110.md").write_text("stale", encoding="utf-8")
    assert {"docs/rules/NAN999.md", "docs/rules/NAN110.md"} <= set(write(tmp_path))
    assert not (tmp_path / "docs" / "rules" / "NAN999.md").exists()
    assert (tmp_path / "docs" / "rules" / "NAN110.md").read_text("utf-8") == page(rulebook().info("NAN110"))
    assert write(tmp_path) == []
