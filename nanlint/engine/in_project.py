"""Findings with what their project says of them: its formats, who calls the function, and what is told once for all of it."""

# ruff: noqa: PTH100, PTH120

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from nanlint.evidence.project import cannot_be_run, with_project
from nanlint.settings.project import project_root
from nanlint.source.project_words import ProjectWords

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanlint.engine.file_result import FileResult
    from nanlint.model import Finding
    from nanlint.source.discover import FoundFile

_PLACES = 5


class InProject:
    """The projects that the files of a run belong to, each read once."""

    def __init__(self) -> None:
        self._words: dict[str, ProjectWords] = {}

    def judged(self, findings: Iterable[Finding], file: FoundFile) -> list[Finding]:
        """The findings of one file with levels that know the project; as they are where there is none."""
        root = _root(file)
        return [with_project(each, self._of(root), file.settings.formats) if root else each for each in findings]

    def tell_once(self, files: Iterable[FoundFile], results: Mapping[str, FileResult]) -> None:
        """Leave one finding of all those of a project that break only in formats which it cannot run in."""
        apart: dict[str, list[tuple[Finding, FileResult]]] = {}
        for file in files:
            result = results[file.path]
            for finding in (*result.findings, *result.hidden):
                root = _root(file)
                if root and cannot_be_run(finding, self._of(root), file.settings.formats):
                    apart.setdefault(root, []).append((finding, result))
        for root, told in apart.items():
            told.sort(key=lambda each: each[0].sort_key)
            first = replace(told[0][0], why=_why(root, [finding for finding, _ in told], self._of(root)))
            for finding, result in told:
                kept = [first] if finding is told[0][0] else []
                for listed in (result.findings, result.hidden):
                    listed[:] = [new for each in listed for new in (kept if each is finding else [each])]

    def uses_half(self, path: str, formats: tuple[str, ...]) -> bool:
        """Whether the user's `formats`, or else some file of the project, name float16 or bfloat16; True without a project."""
        root = project_root(os.path.dirname(path))
        if formats or not root:
            return not formats or not {"float16", "bfloat16"}.isdisjoint(formats)
        return self._of(root).uses_half

    def _of(self, root: str) -> ProjectWords:
        return self._words.get(root) or self._words.setdefault(root, ProjectWords(root))


def _root(file: FoundFile) -> str:
    return project_root(os.path.dirname(os.path.abspath(file.path)))


def _why(root: str, told: list[Finding], words: ProjectWords) -> str:
    """That the project does not run in the format, and where else it would break in it."""
    dtype = told[0].dtypes[0]
    is_cast = words.is_without_half(is_whole=True) and not words.is_without_half(is_whole=False)
    whole = f"autocast runs this in float32, and nothing in this project makes the tensors themselves {dtype}"
    reason = whole if is_cast else f"nothing in this project runs in {dtype}"
    if len(told) == 1:
        return f"{reason}, and it breaks in no other format"
    places = [f"{os.path.relpath(each.path, root)}:{each.span.line}" for each in told[1:]]
    more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
    each = f'formats = ["{dtype}"] in the settings shows each'
    return f"{reason}, so this stands for {len(told)} such places: also {', '.join(places[:_PLACES])}{more}; {each}"
