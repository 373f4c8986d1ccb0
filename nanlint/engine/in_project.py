"""Findings with what their project says of them: its formats, and who calls the function."""

# ruff: noqa: PTH100, PTH120

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nanlint.evidence.project import cannot_be_run, with_project
from nanlint.settings.project import project_root
from nanlint.source.projects.words import ProjectWords

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanlint.model import Finding
    from nanlint.source.discover import FoundFile


class InProject:
    """The projects that the files of a run belong to, each read once."""

    def __init__(self) -> None:
        self._words: dict[str, ProjectWords] = {}

    def judged(self, findings: Iterable[Finding], file: FoundFile) -> list[Finding]:
        """The findings of one file with levels that know the project, without those of formats that it cannot run in; as they are where there is none."""
        root = _root(file)
        if not root:
            return list(findings)
        words, formats = self._of(root), file.settings.formats
        return [with_project(each, words, formats) for each in findings if not cannot_be_run(each, words, formats)]

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
