"""The lines behind findings, for code frames and baselines: read once for each file or cell, when somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanlint.source.discover import kind_of
from nanlint.source.lines import split_lines, without_end
from nanlint.source.read import UnreadableSource, decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SourceLines:
    """Lines of a path, or of one cell of a notebook. `contents` is what did not come from disk, by its name."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents
        self._known: dict[tuple[str, int | None], Sequence[str]] = {}

    def __call__(self, path: str, cell: int | None) -> Sequence[str]:
        """Without line ends; empty if the file can't be read any more."""
        if (path, cell) not in self._known:
            try:
                self._known[path, cell] = self._read(path, cell)
            except UnreadableSource:
                self._known[path, cell] = ()
        return self._known[path, cell]

    def _read(self, path: str, cell: int | None) -> Sequence[str]:
        data = self._contents.get(path)
        if data is None:
            data = read_bytes(path)
        if cell is None or kind_of(path) != "notebook":
            return [without_end(line) for line in split_lines(decode(data, path).text)]
        from nanlint.source.notebooks.notebook import Notebook  # noqa: PLC0415 - few runs meet a notebook

        return Notebook.parse(data, path).lines(cell)
