"""A Jupyter notebook as one Python text, and back into the same JSON with nothing else touched.

The Python cells are joined, each below a comment line that marks the border (none above the first). Writing back
splices the JSON of the changed `source` values into the document as it was, so outputs, metadata, key order,
indentation and escapes stay to the byte. Cells count from 1 among all cells, markdown too, as in `jupyter nbconvert`
and ruff: execution counts change with every run, and hidden counts of code cells are nobody's.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nanlint.model import Span
from nanlint.source.lines import split_lines, without_end
from nanlint.source.read import SourceFile, UnreadableSource, UnwritableSource, decode

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

OLDEST_FORMAT = 3  # nbformat 2 was replaced in 2011


@dataclass(frozen=True, slots=True)
class Cell:
    """A Python cell: its number, its source, and what stands for it in the text of the notebook."""

    number: int
    source: str
    masked: str
    magics: Mapping[str, str]
    """The lines that are no Python, by what replaces them."""
    first_line: int
    """Where the cell starts in `Notebook.text`."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """The Python cells of a notebook. `text` is what the rules see and what fixes change."""

    text: str
    cells: tuple[Cell, ...]
    file: SourceFile
    """The JSON document."""
    label: str
    """A word that occurs nowhere in the document; it marks borders and magics in `text`."""
    broken: tuple[tuple[int, Exception], ...] = ()
    """The numbers of the cells that were left out because Python cannot read them, and what it says of each."""

    @classmethod
    def parse(cls, data: bytes, path: str | os.PathLike[str], *, is_tried: bool = False) -> Notebook:
        """The notebook in `data`; an `UnreadableSource` if it is none. A kernel of another language leaves no cells.

        Where it `is_tried`, a cell that is no valid Python is left out of the text, which costs a parse of all others.
        """
        from nanlint.source.notebooks.magics import mask  # noqa: PLC0415 - compiles expressions that only notebooks need

        file = decode(data, f"{path}.ipynb")  # a name from which `decode` knows that JSON declares no encoding
        label = "ipynb"
        while label in file.text:
            label += "_"
        lines: list[str] = []
        cells: list[Cell] = []
        broken: list[tuple[int, Exception]] = []
        for number, source in _python_sources(_load(file.text)):
            masked, magics = mask(source, label)
            if is_tried and (error := _complaint_about(masked)) is not None:
                broken.append((number, error))
                continue
            if lines:
                lines.append(_border(label, number))
            cells.append(Cell(number, source, masked, magics, len(lines) + 1))
            lines += split_lines(f"{masked}\n")
        return cls("".join(lines), tuple(cells), file, label, tuple(broken))

    def locate(self, span: Span) -> tuple[int, Span]:
        """The number of the cell in which `span` starts, and the span in that cell; an end beyond it is cut off."""
        starts = [cell.first_line for cell in self.cells]
        cell = self.cells[max(bisect_right(starts, span.line) - 1, 0)]
        start = _place_in(cell, span.line, span.column)
        return cell.number, Span(*start, *_place_in(cell, span.end_line, span.end_column))

    def lines(self, cell: int) -> Sequence[str]:
        """The lines of a Python cell without their ends; empty for a number that is no Python cell's."""
        source = next((each.source for each in self.cells if each.number == cell), "")
        return [without_end(line) for line in split_lines(source)]

    def sources(self, text: str) -> dict[int, str]:
        """The sources of the Python cells, by cell number, that an edited `text` stands for.

        An `UnwritableSource` if the edits crossed a border between cells or changed a magic.
        """
        from nanlint.source.notebooks.magics import cell_magic, unmask  # noqa: PLC0415 - as above

        sources = {}
        for cell, body in zip(self.cells, self._bodies(text), strict=True):
            source = unmask(body, cell.magics)
            if source is None or cell_magic(source) != cell_magic(cell.source):
                raise UnwritableSource(f"a fix would change a magic command in cell {cell.number}; fix it by hand")
            sources[cell.number] = source
        return sources

    def accepts(self, text: str) -> bool:
        """Whether an edited `text` can be written back."""
        try:
            self.sources(text)
        except UnwritableSource:
            return False
        return True

    def with_text(self, text: str) -> bytes:
        """The document with the cells of an edited `text`; unchanged cells and all else stay to the byte."""
        old = {cell.number: cell.source for cell in self.cells}
        changed = {number: source for number, source in self.sources(text).items() if source != old[number]}
        if not changed:
            return self.file.encode(self.file.text)
        from nanlint.source.notebooks.json_splice import replace_sources  # noqa: PLC0415 - as above

        return self.file.encode(replace_sources(self.file.text, changed))

    def _bodies(self, text: str) -> list[str]:
        """`text` cut at the borders, without the newline that each cell was given."""
        bodies: list[list[str]] = [[]]
        borders = iter([_border(self.label, cell.number) for cell in self.cells[1:]])
        border = next(borders, None)
        for line in split_lines(text):
            if line == border:
                bodies.append([])
                border = next(borders, None)
            else:
                bodies[-1].append(line)
        if border is not None:
            raise UnwritableSource("a fix would reach over the border of two cells; fix it by hand")
        return ["".join(body).removesuffix("\n") for body in bodies][: len(self.cells)]


def _complaint_about(source: str) -> Exception | None:
    """What Python says of a cell that it cannot read."""
    from ast import parse  # noqa: PLC0415 - for notebooks that were not read as a whole

    try:
        parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error
    return None


def _border(label: str, number: int) -> str:
    return f"# {label} cell {number}\n"


def _place_in(cell: Cell, line: int, column: int) -> tuple[int, int]:
    lines = split_lines(cell.masked)
    inside = line - cell.first_line + 1
    if inside <= max(len(lines), 1):
        return inside, column
    last = lines[-1] if lines else ""
    return max(len(lines), 1), len(without_end(last)) + 1


def _load(text: str) -> dict[str, Any]:
    import json  # noqa: PLC0415 - runs without notebooks do not pay for it

    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableSource(
            f"not a notebook: {error.msg} in its JSON (column {error.colno})", error.lineno
        ) from None
    except (ValueError, RecursionError) as error:
        raise UnreadableSource(f"not a notebook: its JSON cannot be read ({error})") from None
    if not isinstance(document, dict):
        raise UnreadableSource("not a notebook: its JSON is no object", 1)
    version = document.get("nbformat", OLDEST_FORMAT)
    if isinstance(version, int) and version < OLDEST_FORMAT:
        raise UnreadableSource(f"notebook format {version}; bring it up to date with `jupyter nbconvert --to notebook`")
    return document


def _python_sources(document: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    from nanlint.source.notebooks.magics import is_python  # noqa: PLC0415 - as above

    if not _speaks_python(document):
        return
    for number, cell in enumerate(_cells(document), start=1):
        if not isinstance(cell, dict):
            raise UnreadableSource(f"not a notebook: cell {number} is no object")
        if cell.get("cell_type") == "code" and _is_python_cell(cell):
            source = _source(cell, number)
            if source.strip() and is_python(source):
                yield number, source


def _cells(document: Mapping[str, Any]) -> list[Any]:
    """All cells in order; format 3 keeps them in worksheets."""
    if "cells" in document:
        groups = [document["cells"]]
    else:
        sheets = document.get("worksheets")
        groups = [_cells_of(sheet) for sheet in sheets] if isinstance(sheets, list) else [None]
    if not all(isinstance(group, list) for group in groups):
        raise UnreadableSource("not a notebook: it has no list of cells")
    return [cell for group in groups for cell in group]


def _cells_of(sheet: Any) -> Any:
    return sheet.get("cells", []) if isinstance(sheet, dict) else None


def _source(cell: Mapping[str, Any], number: int) -> str:
    value = cell.get("source" if "source" in cell else "input", "")
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "".join(value)
    if not isinstance(value, str):
        raise UnreadableSource(f"not a notebook: the source of cell {number} is neither text nor a list of lines")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UnreadableSource(f"cell {number} holds half a surrogate pair, which is no character; remove it") from None
    if "\0" in value:
        raise UnreadableSource(f"cell {number} holds a null character; remove it")
    return value


def _speaks_python(document: Mapping[str, Any]) -> bool:
    """Whether the kernel is a Python one; a notebook that does not say runs in Python."""
    named = (
        _name(document, "metadata", "kernelspec", "language"),
        _name(document, "metadata", "language_info", "name"),
    )
    return all(name is None or name.lower().removeprefix("i").startswith("python") for name in named)


def _is_python_cell(cell: Mapping[str, Any]) -> bool:
    """Format 3 names the language in each cell, VS Code in the metadata of those that differ from the kernel's."""
    named = (_name(cell, "language"), _name(cell, "metadata", "vscode", "languageId"))
    return all(name is None or name.lower() == "python" for name in named)


def _name(value: Any, *keys: str) -> str | None:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None
