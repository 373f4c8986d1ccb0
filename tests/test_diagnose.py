"""`nanlint diagnose`: the planted cause comes first, nothing runs unasked, and whatever fails leaves the rest of the answer."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from nanlint.cli.main import main
from nanlint.diagnose import code_findings, saved_states, steps
from nanlint.diagnose.answer import Clue
from nanlint.diagnose.project import config_candidates, find, is_data
from nanlint.diagnose.ranking import STRENGTHS, ranked
from nanlint.diagnose.tables import read_table
from nanlint.diagnose.traced_run import words_of
from nanlint.errors import NanlintError, UsageError
from tests.project import COMMAND, environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.diagnose_projects import Planted

pytestmark = pytest.mark.filterwarnings("default")


class Diagnosed(NamedTuple):
    """How a run of the command ended."""

    code: int
    out: str
    err: str


def diagnose(folder: Path, *words: str) -> Diagnosed:
    out, err, here = io.StringIO(), io.StringIO(), os.getcwd()  # noqa: PTH109 - what chdir takes
    os.chdir(folder)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(["diagnose", *words])
    finally:
        os.chdir(here)
    return Diagnosed(code, out.getvalue(), err.getvalue())


def answer(folder: Path, *words: str) -> dict[str, Any]:
    done = diagnose(folder, "--format", "json", *words)
    assert done.code in {0, 1, 130}, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def step(found: dict[str, Any], name: str) -> dict[str, Any]:
    (one,) = (each for each in found["steps"] if each["name"] == name)
    return dict(one)


# -- the planted causes ----------------------------------------------------------------------------------------


def planted_projects() -> list[Any]:
    pytest.importorskip("torch", reason="torch is not installed")
    from tests.diagnose_projects import HARDER, PROJECTS  # noqa: PLC0415 - imports torch

    return [pytest.param(each, id=each.name) for each in (*PROJECTS, *HARDER)]


NEEDS_CONFIRM = frozenset({"beta_mi", "masked_attention"})
"""Where the cause shows only when code is run; `python -m tests.diagnose_projects` gives confirm its time everywhere."""


@pytest.mark.slow
@pytest.mark.parametrize("planted", planted_projects())
def test_the_planted_cause_comes_first(planted: Planted, tmp_path: Path) -> None:
    from tests.diagnose_projects import is_first, make  # noqa: PLC0415 - imports torch

    project = make(planted, tmp_path)
    words = [] if planted.name in NEEDS_CONFIRM else ["--budget", "0"]
    found = answer(project, *words, *(["--run", planted.run] if planted.run else []))
    first = found["causes"][0]
    assert is_first(planted, project, first), json.dumps(found["causes"], indent=1)
    assert first["evidence"]
    assert first["first"]
    if planted.resume:
        assert (found["resume"]["path"], found["resume"]["rate"]) == (planted.resume, pytest.approx(planted.rate))
    assert [each["state"] for each in found["steps"] if each["name"] in {"configs", "checkpoints", "data", "check"}] == ["done"] * 4  # fmt: skip


@pytest.mark.slow
def test_where_nothing_is_wrong_nothing_is_found(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tests.diagnose_projects import NOTHING, make  # noqa: PLC0415 - imports torch

    found = answer(make(NOTHING, tmp_path), "--run", "python train.py")
    assert found["causes"] == []
    assert {each["state"] for each in found["steps"]} == {"done"}


# -- what it does not do ---------------------------------------------------------------------------------------

TREACHEROUS = """
import pathlib
import torch
pathlib.Path({path!r}).write_text("run")

def masked_loss(x, mask):
    return (x * mask).sum() / mask.sum()
"""


@pytest.mark.slow
@pytest.mark.parametrize("budget", ["0", "60"])
def test_nothing_of_the_project_runs_outside_the_sandbox(tmp_path: Path, budget: str) -> None:
    pytest.importorskip("torch")
    proof = tmp_path / "proof"
    for name in ("train.py", "config.py", "losses.py", "conftest.py"):
        (tmp_path / name).write_text(TREACHEROUS.format(path=str(proof)))
    found = answer(tmp_path, "--budget", budget)
    assert found["causes"][0]["code"] == "NAN101"
    assert not proof.exists()


def test_diagnose_itself_imports_no_torch() -> None:
    program = "import sys; import nanlint.cli.diagnose, nanlint.diagnose.steps, nanlint.diagnose.page, nanlint.diagnose.text; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout == "False\n"


def test_without_torch_the_other_steps_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loss.py").write_text("import torch\n\n\ndef f(x, mask):\n    return (x * mask).sum() / mask.sum()\n")
    (tmp_path / "data.csv").write_text("a,b\n1,2\n3,nan\n")
    monkeypatch.setattr(steps, "find_spec", lambda _: None)
    found = answer(tmp_path)
    assert {each["name"]: each["state"] for each in found["steps"]} == {
        "configs": "done", "checkpoints": "skipped", "data": "done", "check": "done", "confirm": "skipped", "run": "skipped",
    }  # fmt: skip
    assert "nanlint[torch]" in step(found, "confirm")["summary"]
    assert [cause["kind"] for cause in found["causes"]] == ["data", "code"]


# -- what goes wrong -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere"], "nowhere is not there; name the folder of the project"),
        (["a.py"], "a.py is a file; diagnose looks at a whole project"),
        (["--config", "gone.yaml"], "--config gone.yaml: there is no such file"),
        (["--report", "why.pdf"], "--report why.pdf: the page is HTML"),
        (["--run", "torchrun train.py"], "a launcher has to start nanlint"),
        (["--run", "make train"], "give a Python script"),
        (["--run", "python 'train.py"], "No closing quotation"),
        (["--steps", "0"], "--steps 0: give a number above 0"),
        (["--budget", "nan"], "--budget nan: give a number above 0"),
        (["--report", "a.py/why.html"], "cannot write a.py/why.html"),
    ],
)
def test_bad_input_is_told_in_one_line(tmp_path: Path, words: list[str], told: str) -> None:
    (tmp_path / "a.py").write_text("")
    done = diagnose(tmp_path, "-q", "--budget", "0", *words) if "--budget" not in words else diagnose(tmp_path, *words)
    assert (done.code, told in done.err, done.err.count("\n")) == (2, True, 1), done.err


def test_an_empty_folder_has_no_cause(tmp_path: Path) -> None:
    done = diagnose(tmp_path, "-q")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Nothing was found that explains a NaN.\nLet it see the run itself")


def test_a_step_that_fails_is_told_and_the_others_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data.csv").write_text("a\n1\ninf\n")

    def fail(_: object) -> None:
        raise ZeroDivisionError("made up")

    monkeypatch.setattr(code_findings, "check_code", fail)
    done = diagnose(tmp_path, "--budget", "0")
    assert done.code == 1
    assert "data.csv holds values that are not finite" in done.out
    assert "check failed: ZeroDivisionError: made up" in done.out
    assert "[4/6] check: failed: ZeroDivisionError: made up" in done.err


@pytest.mark.slow
def test_a_damaged_checkpoint_is_told_beside_the_others(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    for number in (1, 2, 3):
        torch.save({"model": {"w": torch.full((3,), torch.nan if number == 2 else 1.0)}, "step": number}, tmp_path / f"step_{number}.pt")  # fmt: skip
    (tmp_path / "step_3.pt").write_bytes((tmp_path / "step_3.pt").read_bytes()[:200])
    found = answer(tmp_path, "--budget", "0")
    assert any("step_3.pt" in note for note in step(found, "checkpoints")["notes"])
    assert found["causes"][0]["path"] == "step_2.pt"
    assert found["resume"]["path"] == "step_1.pt"


@pytest.mark.slow
def test_a_script_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text("raise SystemExit('no such dataset')\n")
    (tmp_path / "data.csv").write_text("a\n1\nnan\n")
    found = answer(tmp_path, "--budget", "0", "--run", "python train.py")
    assert step(found, "run")["state"] == "failed"
    assert "no such dataset" in step(found, "run")["summary"]
    assert found["causes"][0]["kind"] == "data"


ENDLESS = """
import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
while True:
    loss = model(torch.ones(3, 2)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.slow
def test_a_clean_run_ends_after_its_steps(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(ENDLESS)
    found = answer(tmp_path, "--budget", "0", "--run", "python train.py", "--steps", "20")
    assert step(found, "run")["state"] == "done"
    assert "every loss and gradient was finite" in step(found, "run")["summary"]
    assert found["causes"] == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as a terminal sends them")
def test_ctrl_c_prints_what_is_known_so_far(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(ENDLESS)
    (tmp_path / "data.csv").write_text("a\n1\nnan\n")
    words = [*COMMAND, "diagnose", "--budget", "0", "--run", "python train.py", "--steps", "100000000"]
    default = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731 - a shell may have it ignored
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=default,  # noqa: PLW1509 - nothing else runs in this process
    ) as process:  # fmt: skip
        assert process.stderr is not None
        next(line for line in process.stderr if line.startswith("[5/6]"))
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out.startswith("Interrupted: this is what is known so far.\nMost likely cause (seen)\n  data.csv holds")


def test_an_interrupted_step_keeps_what_it_has_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data.csv").write_text("a\n1\nnan\n")

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(code_findings, "check_code", interrupt)
    found = answer(tmp_path)
    assert found["interrupted"]
    assert [each["name"] for each in found["steps"]] == ["configs", "checkpoints", "data", "check"]
    assert found["causes"][0]["path"] == "data.csv"


# -- the page --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_page_has_the_answer_and_the_curves_and_needs_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(
        ENDLESS.replace("lr=0.01", "lr=9.0").replace("while True", "for _ in range(300)")
    )
    (tmp_path / "a<b>.csv").write_text("a\n1\nnan\n")
    done = diagnose(tmp_path, "--budget", "0", "--run", "python train.py", "--report", "why.html")
    text = (tmp_path / "why.html").read_text("utf-8")
    assert done.err.endswith("nanlint: the page is why.html\n")
    assert "training diverges" in re.findall(r'<h1 id="cause">(.*?)</h1>', text)[0]
    assert {"loss", "gradient_norm", "ratios"} <= set(re.findall(r'aria-label="([^"]+)"', text))
    assert re.findall(r"src\s*=|href\s*=|@import|url\(|https?://", text) == []
    assert "a&lt;b&gt;.csv" in text
    assert "<b>.csv" not in text


# -- the parts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("python train.py --lr 1e-3", ["--", "train.py", "--lr", "1e-3"]),
        ("python3.11 -u src/train.py", ["--", "src/train.py"]),
        ("/usr/bin/python -m project.train -x", ["-m", "project.train", "-x"]),
        ("train.py", ["--", "train.py"]),
    ],
)
def test_a_command_becomes_the_words_of_trace(command: str, words: list[str]) -> None:
    assert words_of(command) == words


@pytest.mark.parametrize("command", ["", "python", "python -c 'x'", "bash run.sh", "accelerate launch train.py"])
def test_what_is_no_script_is_refused(command: str) -> None:
    with pytest.raises(UsageError):
        words_of(command)


def test_a_table_counts_what_a_reader_makes_nan_of(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,name,x,y\n1,ann,0.5,\n2,,nan,3\n3,bob,-inf,4\n4,eve,2,\n5,joe,1,6\n")
    table = read_table(path)
    assert table.rows == 5
    assert [(column.name, column.bad, column.missing) for column in table.flawed] == [("x", 2, 0), ("y", 0, 2)]
    assert table.flawed[0].first_bad == (3, "nan")


def test_a_table_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1," + '"' + "x" * 200_000 + "\n")
    (tmp_path / "u.csv").write_text("a\n1\nnan\n")
    found = answer(tmp_path, "--budget", "0")
    assert step(found, "data")["notes"] == ["t.csv cannot be read: line 2: field larger than field limit (131072)"]
    assert found["causes"][0]["path"] == "u.csv"


def test_a_column_of_words_has_no_flaws(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("word\tn\nnan\t1\ninf\t2\nthe\t3\nof\t4\na\t5\n")
    assert read_table(path).flawed == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("data/x.pt", True),
        ("cache/train_embeddings.pt", True),
        ("features.npy", True),
        ("checkpoints/step_10.pt", False),
        ("runs/train/last.pt", False),
        ("model.pt", False),
        ("data/model_best.pth", False),
    ],
)
def test_data_and_checkpoints_are_told_apart_by_name_and_place(tmp_path: Path, name: str, told: bool) -> None:  # noqa: FBT001 - a column of the table
    assert is_data(tmp_path / name, tmp_path) is told


def test_the_script_that_is_started_comes_first(tmp_path: Path) -> None:
    for name, text in (
        ("a_loop.py", "loss.backward()\n"),
        ("train.py", "loss.backward()\nif __name__ == '__main__':\n    main()\n"),
        ("tests/test_train.py", "loss.backward()\n"),
        ("model.py", "import torch\n"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    project = find(str(tmp_path))
    assert [path.name for path in project.scripts] == ["train.py", "a_loop.py"]
    assert config_candidates(project, "python a_loop.py --epochs 3")[0].name == "a_loop.py"


def test_links_out_of_the_project_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/t.csv").write_text("a\nnan\n")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert find(str(tmp_path / "project")).tables == []


@pytest.mark.slow
def test_environments_inside_the_project_are_none_of_its_files(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    for name in ("venv/lib/data", "node_modules"):
        (tmp_path / name).mkdir(parents=True)
        torch.save({"w": torch.tensor([torch.nan])}, tmp_path / name / "bad.pt")
    torch.save({"w": torch.ones(1)}, tmp_path / "model.pt")
    found = answer(tmp_path, "--budget", "0")
    assert (found["causes"], found["inventory"]["checkpoints"]) == ([], ["model.pt"])


@pytest.mark.slow
def test_the_run_and_a_finding_beside_it_are_one_cause(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from tests.diagnose_projects import HARDER, PROJECTS, make  # noqa: PLC0415 - imports torch

    (planted,) = (each for each in (*PROJECTS, *HARDER) if each.name == "masked_attention")
    found = answer(make(planted, tmp_path), "--budget", "0", "--run", "python train.py")
    first, *others = found["causes"]
    assert (first["path"], first["line"], first["code"], first["certainty"]) == ("attention.py", 21, "NAN107", "seen")
    assert [line.partition(" ")[0] for line in first["evidence"]] == ["seen", "NAN107"]
    assert "NAN107" not in {cause["code"] for cause in others}
    assert first["first"].startswith("write instead, for example:\n")


def clue(strength: str, about: str = "x", **more: Any) -> Clue:
    return Clue("code", about, strength, f"because of {strength}", f"{strength} was seen", "mend it", "a.py", **more)


def test_clues_about_one_thing_are_one_cause_with_all_the_evidence() -> None:
    (cause,) = ranked([clue("warning"), clue("run"), clue("warning")])
    assert (cause.title, cause.word) == ("because of run", "seen")
    assert cause.evidence == ("run was seen", "warning was seen")
    assert cause.points == STRENGTHS["run"][0] + 5


def test_what_was_seen_in_the_run_comes_before_all_that_was_read() -> None:
    others = [clue(name, about=name) for name in STRENGTHS]
    assert ranked(others)[0].title == "because of run"


def test_no_step_is_named_that_is_not_there() -> None:
    assert [each.name for each in steps.STEPS] == ["configs", "checkpoints", "data", "check", "confirm", "run"]


def test_an_unknown_error_is_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise NanlintError("refused")

    monkeypatch.setattr(saved_states, "stated_config", refuse)
    found = answer(tmp_path)
    assert step(found, "configs") | {"seconds": 0} == {
        "name": "configs", "state": "failed", "summary": "refused", "seconds": 0, "notes": [],
    }  # fmt: skip
