"""What pip brings: a really built wheel in a really fresh virtual environment, and the four conditions of the rulebook.

The rules lie beside the package in a checkout and inside it in a wheel. That holds as long as nobody imports a rule by
name, the wheel holds every rule file, a checkout finds its own rules, and pytest runs the checkout it stands in.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import nanlint
from tests.checkout import ROOT, copy_checkout

if TYPE_CHECKING:
    from email.message import Message

RULE_FILES = sorted(path.name for path in (ROOT / "rules").glob("*.py"))
BAD = "import torch\n\n\ndef loss(x: torch.Tensor) -> torch.Tensor:\n    return torch.log(torch.softmax(x, dim=-1))\n"
WHERE = "from nanlint.engine.rules.rulebook import rules_folder; print(rules_folder())"

SAME_CARDS = """
from nanlint.engine.rules.cards import cards_of, ready_cards
from nanlint.engine.rules.rulebook import rulebook, rules_folder

assert ready_cards(rules_folder()) == cards_of(rulebook().rules.values())
"""


def run(*command: str | Path, cwd: Path, expect: int = 0) -> str:
    """What `command` prints; run outside the checkout's own import path."""
    clean = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=clean, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == expect, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def fresh_environment(folder: Path, *what: str | Path) -> Path:
    """The interpreter of a new virtual environment in `folder` with `what` installed."""
    # The pip of these tests installs there, and compiles nothing: a pip of its own and bytecode of everything take longer than the rest.
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = ("install", "--quiet", "--no-compile", "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", "--python", python, *install, *what, cwd=folder.parent)
    return python


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of this checkout, and the wheel that was built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second checkout, in which nothing is written."""
    return copy_checkout(tmp_path_factory.mktemp("copied") / "copy")


@pytest.fixture(scope="module")
def wheel(dist: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(next(dist.glob("*.whl")))


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    entry = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(entry).decode())


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh virtual environment with the wheel and what the wheel asks for."""
    return fresh_environment(tmp_path_factory.mktemp("fresh") / "venv", next(dist.glob("*.whl")))


class TestTheFourConditions:
    @pytest.mark.slow
    def test_nobody_imports_a_rule_by_name(self) -> None:
        by_name = re.compile(r"(nanlint\.)?rules(\.nan\d.*)?")
        offenders = []
        for folder in ("nanlint", "rules", "tests", "benchmarks"):
            for path in sorted((ROOT / folder).rglob("*.py")):
                text = path.read_text(encoding="utf-8")
                for node in ast.walk(ast.parse(text)) if "rules" in text else ():
                    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                    names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                    offenders += [f"{path}: {name}" for name in names if by_name.fullmatch(name)]
        assert offenders == []

    @pytest.mark.slow
    def test_the_wheel_holds_every_rule_file(self, wheel: zipfile.ZipFile) -> None:
        shipped = sorted(Path(name).name for name in wheel.namelist() if name.startswith("nanlint/rules/"))
        assert shipped == ["_cards.py", *RULE_FILES]

    def test_a_checkout_uses_its_own_rules(self, copy: Path) -> None:
        assert run(sys.executable, "-c", WHERE, cwd=copy).strip() == str(copy / "rules")

    def test_pytest_runs_the_checkout_it_stands_in(self, pytestconfig: pytest.Config) -> None:
        assert pytestconfig.getini("pythonpath") == [ROOT]
        assert Path(nanlint.__file__).parent == ROOT / "nanlint"


class TestTheWheel:
    pytestmark = pytest.mark.slow

    def test_it_holds_the_package_and_nothing_beside_it(self, wheel: zipfile.ZipFile) -> None:
        tops = {name.split("/")[0] for name in wheel.namelist()}
        assert {re.sub(r"-[^-]+\.dist-info", ".dist-info", top) for top in tops} == {"nanlint", "nanlint.dist-info"}

    def test_it_holds_every_file_of_the_package(self, wheel: zipfile.ZipFile) -> None:
        inside = {path.relative_to(ROOT).as_posix() for path in (ROOT / "nanlint").rglob("*") if path.is_file()}
        expected = {name for name in inside if "__pycache__" not in name}
        assert {"nanlint/py.typed", "nanlint/settings/schema.json", "nanlint/report/schema_v1.json"} <= expected
        assert expected - set(wheel.namelist()) == set()

    def test_its_core_needs_no_torch(self, metadata: Message) -> None:
        core = [entry for entry in metadata.get_all("Requires-Dist", []) if "extra ==" not in entry]
        assert sorted(re.split(r"[<>=!~ ;]", entry)[0] for entry in core) == [
            "libcst",
            "pathspec",
            "pydantic",
            "pyyaml",
            "rich",
            "shtab",
            "tomli",
        ]

    def test_its_extras_bring_torch_in_a_range_and_pinned_for_tests(self, metadata: Message) -> None:
        torch = [entry for entry in metadata.get_all("Requires-Dist", []) if entry.startswith("torch")]
        assert sorted(re.sub(r"['\" ]", "", entry) for entry in torch) == [
            "torch==2.13.0;extra==test",
            "torch>=2.4;extra==torch",
        ]

    def test_it_says_what_it_is_and_where_it_runs(self, metadata: Message) -> None:
        assert metadata["Name"] == "nanlint"
        assert metadata["Requires-Python"] == ">=3.10"
        assert metadata["License-Expression"] == "MIT"
        assert metadata["Description-Content-Type"] == "text/markdown"

    def test_its_sdist_can_run_the_tests(self, dist: Path) -> None:
        with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
            names = {name.partition("/")[2] for name in archive.getnames()}
        tested = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").glob("*.py")}
        fixtures = {path.relative_to(ROOT).as_posix() for path in (ROOT / "fixtures").rglob("*.py")}
        others = {"README.md", "LICENSE", ".pre-commit-hooks.yaml", ".ci/run", "pyproject.toml"}
        assert tested | fixtures | others <= names


class TestAFreshInstall:
    pytestmark = pytest.mark.slow

    def test_it_finds_the_bug(self, installed: Path, tmp_path: Path) -> None:
        (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
        out = run(installed.with_name("nanlint"), "check", "bad.py", cwd=tmp_path, expect=1)
        assert re.search(r"^bad\.py:5:12: NAN110 ", out, re.MULTILINE)

    def test_it_knows_every_rule_of_the_checkout(self, installed: Path, tmp_path: Path) -> None:
        rules = json.loads(run(installed.with_name("nanlint"), "rules", "--json", cwd=tmp_path))
        names = [f"{rule['code'].lower()}_{rule['name'].replace('-', '_')}.py" for rule in rules]
        assert sorted(names) == RULE_FILES

    def test_it_learns_from_cards_what_its_rules_look_for(self, installed: Path, tmp_path: Path) -> None:
        run(installed, "-c", SAME_CARDS, cwd=tmp_path)

    def test_it_is_a_module_too(self, installed: Path, tmp_path: Path) -> None:
        assert run(installed, "-m", "nanlint", "--version", cwd=tmp_path) == f"nanlint {nanlint.__version__}\n"

    def test_its_rules_lie_inside_the_package(self, installed: Path, tmp_path: Path) -> None:
        package = run(installed, "-c", "import nanlint; print(nanlint.__path__[0])", cwd=tmp_path).strip()
        assert run(installed, "-c", WHERE, cwd=tmp_path).strip() == str(Path(package, "rules"))

    def test_it_has_no_torch(self, installed: Path, tmp_path: Path) -> None:
        found = "import importlib.util; print(importlib.util.find_spec('torch'))"
        assert run(installed, "-c", found, cwd=tmp_path) == "None\n"

    def test_a_checkout_wins_over_it(self, installed: Path, copy: Path) -> None:
        assert run(installed, "-c", WHERE, cwd=copy).strip() == str(copy / "rules")


@pytest.mark.slow
def test_an_editable_install_uses_the_rules_of_its_checkout(copy: Path, tmp_path: Path) -> None:
    python = fresh_environment(tmp_path / "venv", "--no-deps", "--editable", copy)
    assert run(python, "-c", WHERE, cwd=tmp_path).strip() == str(copy / "rules")
