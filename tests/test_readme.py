"""What the README says is so: its commands, its example, its settings, its code and its picture."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nanlint.cli.main import main, parser
from nanlint.engine.rules.rulebook import PAGES
from nanlint.settings.models import Options, kebab_case
from nanlint.settings.toml import parse_toml
from tests.checkout import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
HOME = PAGES.partition("/blob/")[0]


def block(marker: str) -> str:
    """The code between `<!-- marker:begin -->` and its end."""
    found = re.search(rf"<!-- {marker}:begin -->\n```\w+\n(.*?)```\n<!-- {marker}:end -->", README, re.DOTALL)
    assert found, marker
    return found[1]


def run(*command: str, cwd: Path = ROOT) -> str:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=True).stdout


@pytest.fixture
def example(tmp_path: Path) -> Path:
    return Path(shutil.copy(ROOT / "examples" / "train.py", tmp_path))


class TestTheTwoCommands:
    @pytest.fixture(autouse=True)
    def _a_browser_is_there(self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
        """With one in sight, `.ci/run` installs none on the machine that runs the tests."""
        browser = tmp_path_factory.mktemp("bin") / "chromium"
        browser.touch(mode=0o755)
        monkeypatch.setenv("PATH", str(browser.parent), prepend=os.pathsep)

    def test_the_first_ends_in_findings(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        command, _, arguments = block("first").strip().rpartition(".venv/bin/nanlint ")
        assert command == "python3 -m venv .venv && .venv/bin/pip install -q . && "
        monkeypatch.chdir(ROOT)
        assert main([*arguments.split(), "--no-cache"]) == 0
        found = re.findall(r"^examples/train\.py:\d+:\d+: (NAN\d+)", capsys.readouterr().out, re.MULTILINE)
        assert found == ["NAN110", "NAN404", "NAN403", "NAN401"]

    @pytest.mark.slow
    def test_the_second_is_what_ci_runs(self, tmp_path: Path) -> None:
        folder = tmp_path / "checkout"
        shutil.copytree(ROOT / ".ci", folder / ".ci")
        (folder / "README.md").write_text(README.replace(block("test"), "echo ran in $(basename $PWD)\n"), "utf-8")
        assert run("bash", "checkout/.ci/run", cwd=tmp_path).splitlines()[-1] == "ran in checkout"

    def test_ci_fails_if_the_second_is_not_there(self, tmp_path: Path) -> None:
        shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
        (tmp_path / "README.md").write_text("# nothing\n", "utf-8")
        done = subprocess.run(["bash", ".ci/run"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (2, "README.md has no command between test:begin and test:end\n")

    def test_contributors_are_told_the_same(self) -> None:
        assert block("test") in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_every_command_that_is_shown_is_one() -> None:
    shells = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    lines = [line for shell in shells for line in shell.splitlines() if line.startswith("nanlint ")]
    lines += re.findall(r"^\s+- (?:run: )?(nanlint .*)", README, re.MULTILINE)
    commands = [shlex.split(line, comments=True)[1:] for line in lines]
    assert len(commands) > 10
    assert [parser(words[0]).parse_args(words).command for words in commands] == [words[0] for words in commands]


class TestTheExample:
    @pytest.mark.slow
    def test_it_is_lost_as_it_is(self, example: Path, torch_python: str) -> None:
        out = run(torch_python, str(example))
        assert "step 13: loss      inf" in out
        assert out.endswith("parameters: NaN, and no later batch can bring them back\n")

    @pytest.mark.slow
    def test_trace_names_the_same_step(self, example: Path, torch_python: str) -> None:
        traced = subprocess.run(
            [torch_python, "-m", "nanlint", "trace", str(example)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "nanlint: step 13: `log` made -inf of finite values" in traced.stderr + traced.stdout
        assert "is lost at step 13" in README

    @pytest.mark.slow
    def test_it_stays_finite_when_fixed(self, example: Path, torch_python: str) -> None:
        main(["check", "--fix", "--unsafe-fixes", "--quiet", "--no-cache", "--isolated", str(example)])
        out = run(torch_python, str(example))
        assert "skipped" not in out
        assert out.endswith("parameters: finite\n")


class TestTheSettings:
    def test_every_key_is_shown(self) -> None:
        shown = set(re.findall(r"^(?:# )?([a-z-]+) = |^\[tool\.nanlint\.([a-z-]+)", block("settings"), re.MULTILINE))
        keys = {first or second for first, second in shown} - {"max-norm", "ctor", "x"}
        assert keys == {kebab_case(name) for name in Options.model_fields}

    def test_the_example_is_valid(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "pyproject.toml").write_text(block("settings"), encoding="utf-8")
        (tmp_path / "empty.py").touch()
        monkeypatch.chdir(tmp_path)
        assert main(["check"]) == 0

    def test_defaults_are_shown_as_they_are(self) -> None:
        shown = parse_toml(block("settings"))["tool"]["nanlint"]
        chosen = {
            "ignore",
            "exclude",
            "extend-exclude",
            "output-format",
            "per-file-ignores",
            "rules",
            "confirm",
        }
        defaults = {kebab_case(name): field.default for name, field in Options.model_fields.items()}
        assert {key: value for key, value in shown.items() if key not in chosen} == {
            key: value for key, value in defaults.items() if key not in {*chosen, "extend"}
        }


@pytest.mark.slow
def test_the_library_code_runs() -> None:
    out = run(sys.executable, "-c", block("library"))
    assert re.fullmatch(r"2 NAN110 .+\n1 findings, 0 files could not be checked\n", out)


def test_the_local_rule_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "hidden_nan.py").write_text(block("local-rule"), encoding="utf-8")
    (tmp_path / "nanlint.toml").write_text('local-rules = ["house"]\n', encoding="utf-8")
    (tmp_path / "train.py").write_text(
        "import torch\n\n\ndef f(x):\n    return torch.nan_to_num(x)\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["check", "train.py", "--output-format", "json"]) == 1
    messages = [(finding["code"], finding["message"]) for finding in json.loads(capsys.readouterr().out)["findings"]]
    assert messages == [("ACME001", "`torch.nan_to_num(x)` hides where a NaN comes from")]


class TestThePicture:
    @pytest.mark.slow
    def test_it_shows_what_the_first_command_prints(self) -> None:
        svg = (ROOT / "docs" / "check.svg").read_text(encoding="utf-8")
        pieces = re.findall(r'<text class="nanlint-r\d+" x="[\d.]+" y="([\d.]+)"[^>]*>([^<]*)</text>', svg)
        lines: dict[str, str] = {}
        for height, text in pieces:
            lines[height] = lines.get(height, "") + html.unescape(text)
        arguments = block("first").strip().rpartition(".venv/bin/")[2]
        out = run(sys.executable, "-m", *arguments.split(), "--output-format", "full", "--no-cache")
        # The picture tells spaces by places.
        assert "".join("".join(lines.values()).split()) == "".join(f"$ {arguments}\n{out}".split())

    def test_it_loads_nothing_from_elsewhere(self) -> None:
        svg = (ROOT / "docs" / "check.svg").read_text(encoding="utf-8")
        assert re.findall(r"url\((?!#)[^)]*\)", svg) == []


def test_the_hook_and_ci_use_the_address_of_the_project() -> None:
    addresses = re.findall(r"(?:repo: |git\+)(\S+)", README)
    assert addresses == [HOME] * 3


def test_every_link_within_the_repository_leads_somewhere() -> None:
    for document in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        targets = [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"https?:|#", target)]
        assert [target for target in targets if not (ROOT / target.partition("#")[0]).exists()] == []


def test_no_document_names_a_folder_of_a_machine() -> None:
    for document in (*ROOT.glob("*.md"), *ROOT.glob("*.toml"), *ROOT.glob(".*.yaml"), ROOT / ".ci" / "run"):
        assert re.findall(r"(?<![\w.*])/(?:home|root|work|Users|opt|tmp)/\S*", document.read_text("utf-8")) == [], (
            document
        )
