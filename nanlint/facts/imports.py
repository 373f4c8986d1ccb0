"""What import statements bind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from nanlint.facts.names import dotted_text

if TYPE_CHECKING:
    from collections.abc import Iterator


def bindings(node: cst.Import | cst.ImportFrom) -> Iterator[tuple[str, str]]:
    """Each name that the statement binds, with the full name of what it then stands for."""
    if isinstance(node.names, cst.ImportStar):
        return
    origin = ""
    if isinstance(node, cst.ImportFrom):
        origin = "." * len(node.relative) + ((dotted_text(node.module) or "") if node.module is not None else "")
        origin += "" if origin.endswith(".") else "."
    for alias in node.names:
        name = dotted_text(alias.name) or ""
        local = alias.evaluated_alias or name.partition(".")[0]
        # `import a.b` binds a; `import a.b as c` binds a.b.
        yield local, origin + (name if alias.evaluated_alias or origin else local)
