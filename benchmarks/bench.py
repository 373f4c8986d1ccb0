"""The tools and packages of one speed run, the commands made of them, and what was promised."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from benchmarks.measure import Command
from benchmarks.packages import PEERS, TRANSFORMERS, python_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from benchmarks.packages import Workshop
    from benchmarks.table import Target


class Bench:
    """Everything installed and unpacked. `rules` are those that nanlint runs, as --select takes them; "" for all.

    `others` are interpreters that nanlint is measured with as well.
    """

    def __init__(self, workshop: Workshop, rules: str, others: Iterable[str] = ()) -> None:
        self.workshop = workshop
        self.rules = rules
        self.bin = {name: workshop.tool(name, requirement) for name, requirement in PEERS.items()}
        self.bin["nanlint"] = workshop.nanlint()
        self.others = {python_of(folder): folder for folder in map(workshop.nanlint, others)}
        """Other interpreters by their names -> the folder of executables that holds nanlint."""
        self.transformers = workshop.source(TRANSFORMERS)
        self.lines = self.transformers.lines()
        self.slow: dict[str, float] = {}
        """CPU seconds of each slow peer on transformers, scaled."""
        self.targets: dict[str, Target] = {}

    @property
    def selection(self) -> list[str]:
        """The options that choose nanlint's rules."""
        return ["--select", self.rules] if self.rules else []

    @property
    def python(self) -> str:
        """The interpreter beside nanlint."""
        return str(self.bin["nanlint"] / "python")

    def nanlint(self, path: Path, *, cache: str, cold: bool, other: str = "") -> Command:
        """`nanlint check`, with another interpreter if one is named; cold means that it remembers nothing."""
        folder = self.others[other] if other else self.bin["nanlint"]
        return self._with_cache([str(folder / "nanlint"), "check", *self.selection, str(path)], cache, cold=cold)

    def ruff(self, path: Path, *, cache: str, cold: bool) -> Command:
        """`ruff check` with its default rules."""
        return self._with_cache([str(self.bin["ruff"] / "ruff"), "check", str(path)], cache, cold=cold)

    def _with_cache(self, words: list[str], cache: str, *, cold: bool) -> Command:
        folder = self.workshop.work / "caches" / cache
        command = [*words, "--isolated", "--cache-dir", str(folder)]
        return Command(command, _cleared(folder)) if cold else Command(command)

    def peer(self, name: str, path: Path) -> Command:
        """A slow peer with its default rules; neither has a cache."""
        words = {"TorchFix": ["torchfix"], "Fixit": ["fixit", "--quiet", "lint"]}[name]
        return Command([str(self.bin[name] / words[0]), *words[1:], str(path)])

    def promise(self, key: str, target: Target) -> tuple[str, str]:
        """The last two cells of a row: what was promised, and the verdict."""
        self.targets[key] = target
        return target.promise, target.verdict


def _cleared(folder: Path) -> Callable[[], None]:
    return lambda: shutil.rmtree(folder, ignore_errors=True)
