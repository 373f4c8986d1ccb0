"""The text for what a selection should have been: a harmless operand, a `where` for a product, a finite number for -inf."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanlint.analysis.source_text import on_one_line
from nanlint.hazards.fixes.replacing import spelling_of
from nanlint.model import Edit
from nanlint.source.syntax.below import walk

if TYPE_CHECKING:
    from nanlint.analysis.patterns.kept import Kept
    from nanlint.analysis.patterns.masked_rows import Filling
    from nanlint.hazards.hazard import Hazard
    from nanlint.hazards.operand import Operand


def made_harmless(hazard: Hazard, found: Kept, harmless: str) -> Edit | None:
    """The operand with `harmless` in its place where the result is thrown away, for an operation that is written right there."""
    condition, operand = found.op.nodes.get("condition") or found.op.nodes.get("mask"), hazard.operand
    spelled, node, outer = spelling_of(hazard, "torch.where"), hazard.op.node, found.op.node
    if condition is None or operand.node is None or spelled is None or node is None or outer is None:
        return None
    said, text = on_one_line(hazard.source.text_of(condition)), on_one_line(operand.text)
    if said is None or text is None or operand.span is None or all(each is not node for each in walk(outer)):
        return None
    picked = f"{text}, {harmless}" if found.holds else f"{harmless}, {text}"
    return Edit(operand.span, f"{spelled}({said}, {picked})")


def picked(hazard: Hazard, found: Kept, mask: Operand) -> Edit | None:
    """`torch.where(mask, value, 0.0)` for the product with a mask of truth values."""
    torch, texts = hazard.name_of("torch"), [on_one_line(each.text) for each in (mask, hazard.operand)]
    is_plain = mask.value.dtype == "bool" and found.holds and hazard.operand.value.number is None
    if torch is None or None in texts or "" in texts or not is_plain or hazard.is_in_place:
        return None
    return Edit(hazard.span, f"{torch}.where({texts[0]}, {texts[1]}, 0.0)")


def least_instead(hazard: Hazard, found: Filling, *, is_halved: bool) -> Edit | None:
    """The least number of the dtype of the scores in place of -inf, or half of that."""
    torch, scores = hazard.name_of("torch"), hazard.operand_of(found.op, found.kept.operand)
    node = found.op.nodes.get(found.fill_name) or _assigned_to(found.op.node, hazard.function.node)
    if torch is None or node is None or not scores.text.replace(".", "").isidentifier():
        return None
    return Edit(hazard.source.span_of(node), f"{torch}.finfo({scores.text}.dtype).min{' / 2' if is_halved else ''}")


def _assigned_to(target: ast.AST | None, function: ast.AST) -> ast.expr | None:
    """What is assigned to a target: the number in `scores[mask] = -inf`."""
    assignments = (each for each in walk(function) if isinstance(each, ast.Assign))
    return next((each.value for each in assignments if each.targets == [target]), None)
