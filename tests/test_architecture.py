"""The rooms of the house and the doors between them, read from the import statements themselves."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "nanlint").rglob("*.py"))
RULES = sorted((ROOT / "rules").glob("*.py"))

# A room is a package or a top-level module of nanlint. What everybody may import knows nobody.
FOR_EVERYBODY = frozenset({"nanlint", "digest", "errors", "nearest", "sealed", "word_sets"})
# model <- source <- ops <- analysis <- hazards <- evidence <- rule.py <- rules/*: imports point left, never right.
LEFT_TO_RIGHT = (
    "model",
    "settings",
    "source",
    "ops",
    "analysis",
    "hazards",
    "evidence",
    "rule",
    "prefilter",
    "engine",
)
DOORS: dict[str, frozenset[str]] = {
    **{room: frozenset(LEFT_TO_RIGHT[:place]) for place, room in enumerate(LEFT_TO_RIGHT)},
    # What the user wrote is read before anything is known about findings.
    "settings": frozenset(),
    "report": frozenset({"model", "evidence"}),
    "checkpoint": frozenset({"model", "settings", "source", "report"}),
    "plot": frozenset(),
    "confirm": frozenset({"model", "source", "ops"}),
    # The static finding at the line where a run broke.
    "trace": frozenset({*LEFT_TO_RIGHT, "api", "plot", "checkpoint"}),
    # It puts the others' answers in order, and does none of their work.
    "diagnose": frozenset({"api", "settings", "checkpoint", "confirm", "trace", "plot", "report", "model"}),
    "api": frozenset({*LEFT_TO_RIGHT, "rule_pages"}),
    "testing": frozenset({*LEFT_TO_RIGHT, "api"}),
    "rule_pages": frozenset({"model", "rule", "engine"}),
    "codemods": frozenset(LEFT_TO_RIGHT),
    "libcst_tool": frozenset({"codemods"}),
    "cli": frozenset(
        {*LEFT_TO_RIGHT, "report", "confirm", "checkpoint", "plot", "trace", "diagnose", "api", "rule_pages"}
    ),
    "__main__": frozenset({"cli"}),
}
TORCH_ROOMS = ("confirm/worker/", "trace/", "checkpoint/")

NO_REASON_IN_COMMON = frozenset({"utils", "util", "helpers", "helper", "common", "types", "base", "misc"})
LONGEST_MODULE = 500
LONG_MODULE = 300
LONGEST_RULE = 150
# Modules above 300 lines, each with the reason why it is one thing and not two.
ONE_THING = {
    "nanlint/analysis/patterns/log_arguments.py": "the ways in which the argument of a logarithm comes to be 0, each one short",
    "nanlint/analysis/patterns/zeros.py": "the ways in which a denominator comes to be 0, each one short",
    "nanlint/analysis/relations.py": "one relation per operation, each a few lines; they call each other",
    "nanlint/hazards/hazard.py": "the questions a rule may ask about a hazard, each one short",
    "nanlint/confirm/worker/uses.py": "one visitor; each method reads one kind of evidence on a parameter",
    "nanlint/confirm/worker/answers.py": "the table of complaints and the move that answers each",
    "nanlint/trace/session.py": "the states of one run; each method is one event of it, and they share what is known",
}


@dataclass(frozen=True)
class Import:
    """One imported module, by its full name, and whether the import happens when the importing module is loaded."""

    target: str
    line: int
    at_load: bool


class _Reader(ast.NodeVisitor):
    """Collects imports; those in functions and under TYPE_CHECKING do not happen at load."""

    def __init__(self) -> None:
        self.found: list[Import] = []
        self._at_load = True

    def visit_Import(self, node: ast.Import) -> None:
        self.found += [Import(alias.name, node.lineno, self._at_load) for alias in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert node.level == 0, "relative imports are not used here"
        origin = node.module or ""
        inner = [f"{origin}.{alias.name}" for alias in node.names]
        targets = {name if _is_module(name) else origin for name in inner}
        self.found += [Import(target, node.lineno, self._at_load) for target in sorted(targets)]

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) == "TYPE_CHECKING":
            self._later(node.body)
            for child in node.orelse:
                self.visit(child)
        else:
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._later(node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._later(node.body)

    def _later(self, body: list[ast.stmt]) -> None:
        before, self._at_load = self._at_load, False
        for child in body:
            self.visit(child)
        self._at_load = before


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return name.startswith("nanlint") and (path.with_suffix(".py").is_file() or (path / "__init__.py").is_file())


def imports_in(text: str) -> list[Import]:
    reader = _Reader()
    reader.visit(ast.parse(text))
    return reader.found


def imports_of(path: Path) -> list[Import]:
    return imports_in(path.read_text(encoding="utf-8"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "nanlint"


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def wrong_doors(module: str, text: str) -> Iterator[str]:
    room = room_of(module)
    for found in imports_in(text):
        other = room_of(found.target)
        inside = found.target.split(".")[0] == "nanlint" and other not in FOR_EVERYBODY
        if inside and other != room and other not in DOORS[room]:
            yield f"{module}:{found.line} imports {found.target}: no door from {room} to {other}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("from nanlint.engine.rules.rulebook import rulebook\n", id="at load"),
        pytest.param("import nanlint.engine\n", id="a whole package"),
        pytest.param("from nanlint import engine\n", id="from the root"),
        pytest.param("def f():\n    from nanlint.engine import suppress\n", id="in a function"),
        pytest.param("if TYPE_CHECKING:\n    from nanlint.engine import suppress\n", id="for types only"),
    ],
)
def test_a_wrong_door_is_noticed(text: str) -> None:
    assert len(list(wrong_doors("nanlint.report.text", text))) == 1


def test_every_room_has_its_doors_stated() -> None:
    rooms = {room_of(module_name(path)) for path in MODULES}
    assert rooms - FOR_EVERYBODY <= DOORS.keys()


def test_the_architecture_page_shows_every_room() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    shown_rooms = set(re.findall(r"^ {6}(\w+)(?:/|\.py) ", page, re.MULTILINE))
    assert shown_rooms == {room_of(module_name(path)) for path in MODULES} - {"nanlint", "__main__"}


@pytest.mark.slow
def test_imports_point_left() -> None:
    inside = [path for path in MODULES if room_of(module_name(path)) not in FOR_EVERYBODY]
    assert [line for path in inside for line in wrong_doors(module_name(path), path.read_text("utf-8"))] == []


@pytest.mark.parametrize("name", sorted(FOR_EVERYBODY))
def test_what_everybody_imports_loads_nobody(name: str) -> None:
    path = ROOT / "nanlint" / ("__init__.py" if name == "nanlint" else f"{name}.py")
    assert [found.target for found in imports_of(path) if found.at_load and found.target.startswith("nanlint")] == []


@pytest.mark.slow
def test_no_module_waits_for_itself_to_be_loaded() -> None:
    graph = {
        module_name(path): {
            found.target for found in imports_of(path) if found.at_load and found.target.startswith("nanlint")
        }
        for path in MODULES
    }
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"circular import: {' -> '.join(error.args[1])}")
    assert set(graph) <= set(order)


def test_rules_import_the_contract_and_the_standard_library_only() -> None:
    allowed = {"nanlint.rule", "__future__", *sys.stdlib_module_names}
    strangers = [
        f"{shown(path)}:{found.line} imports {found.target}"
        for path in RULES
        for found in imports_of(path)
        if found.target not in allowed and found.target.split(".")[0] not in sys.stdlib_module_names
    ]
    assert RULES
    assert strangers == []


@pytest.mark.slow
def test_torch_is_imported_in_its_three_rooms_only() -> None:
    importers = {
        path.relative_to(ROOT / "nanlint").as_posix()
        for path in MODULES
        for found in imports_of(path)
        if found.target.split(".")[0] == "torch"
    }
    assert [path for path in sorted(importers) if not path.startswith(TORCH_ROOMS)] == []


def test_no_module_is_above_its_size() -> None:
    sizes = {shown(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {path: size for path, size in sizes.items() if size > LONGEST_MODULE} == {}
    without_reason = {path for path, size in sizes.items() if size > LONG_MODULE} - ONE_THING.keys()
    assert without_reason == set(), "a module above 300 lines states its reason in ONE_THING"
    assert ONE_THING.keys() <= sizes.keys()


def test_a_rule_fits_on_two_screens() -> None:
    sizes = {shown(path): len(path.read_text(encoding="utf-8").splitlines()) for path in RULES}
    assert {path: size for path, size in sizes.items() if size > LONGEST_RULE} == {}


def test_every_module_is_named_for_its_reason() -> None:
    everything = [*MODULES, *RULES, *(ROOT / "tests").glob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
    assert [shown(path) for path in everything if path.stem.removeprefix("test_") in NO_REASON_IN_COMMON] == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [shown(path) for path in [*MODULES, *RULES] if not ast.get_docstring(ast.parse(path.read_text("utf-8")))]
    assert silent == []
